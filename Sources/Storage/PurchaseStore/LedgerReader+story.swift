import AppStorePayloads
import Base
import Foundation
import Postgres
import Subscriptions

extension LedgerReader {
    /// What happened to the purchases of this original transaction, each in the order of signing: more than one only where
    /// two apps or environments share the number.
    public func story(of originalTransactionID: String) async throws -> [RecordedStory] {
        let evidence = try await evidence(of: originalTransactionID)
        return evidence.map { purchase, pieces in
            var byNotification: [UniqueIdentifier: RecordedStory.Learned] = [:]
            var byRecord: [[UInt8]: RecordedStory.Learned] = [:]
            for piece in pieces {
                if let uuid = piece.evidence.notificationUUID { byNotification[uuid] = piece.learned }
                if let digest = piece.evidence.loneDigest { byRecord[digest] = piece.learned }
            }
            let story = PurchaseStory(pieces.map(\.evidence), of: purchase, policy: policy)
            return RecordedStory(
                purchase: purchase,
                entries: story.entries.map { told in
                    let learned = told.notificationUUID.flatMap { byNotification[$0] }
                    return RecordedStory.Entry(
                        recorded: told, learned: learned ?? told.recordDigest.flatMap { byRecord[$0] })
                })
        }
    }

    /// The evidence in the order in which it was applied, with the state derived after each piece: the last
    /// ``beliefs`` of each purchase.
    public func asLearned(of originalTransactionID: String) async throws -> [RecordedBelief] {
        var beliefs: [RecordedBelief] = []
        for (purchase, pieces) in try await evidence(of: originalTransactionID) {
            var facts = PurchaseFacts()
            for (place, piece) in pieces.sorted(by: { $0.isLearned(before: $1) }).enumerated() {
                let evidence = piece.evidence
                evidence.merge(into: &facts)
                guard pieces.count - place <= Self.beliefs else { continue }
                let asOf = max(facts.asOf ?? evidence.signedAt, evidence.signedAt)
                let state = SubscriptionState(facts, in: purchase.environment, policy: policy)
                beliefs.append(
                    RecordedBelief(
                        purchase: purchase, notificationUUID: evidence.notificationUUID, type: evidence.type,
                        subtype: evidence.subtype, signedAt: evidence.signedAt, learned: piece.learned, asOf: asOf,
                        believed: state?.status(at: asOf)))
            }
        }
        return beliefs
    }

    /// How many states are derived at the most: each costs as much as a whole purchase.
    public static let beliefs = 500

    /// The one-time purchases with this original transaction.
    public func oneTimePurchases(of originalTransactionID: String) async throws -> [RecordedOneTimePurchase] {
        try await pool.query(
            PostgresQuery(
                "ledger.one_time",
                """
                select environment, bundle_id, original_transaction_id, kind, product_id, ownership, app_account_token,
                       transaction_id, purchased_at, expires_at, revoked_at, quantity, revoked_share, revocation_reason, gaps
                  from storehook.one_time_purchases
                 where original_transaction_id = \(originalTransactionID)
                 order by environment, bundle_id
                """)
        ).map { try RecordedOneTimePurchase($0) }
    }

    /// All evidence about each purchase with this original transaction: index look-ups, whatever the tables' size.
    private func evidence(
        of originalTransactionID: String
    ) async throws -> [(purchase: PurchaseKey, pieces: [RecordedEvidence])] {
        let facts = PurchaseStatement.columns.dropFirst(3).map { PurchaseStatement.expression(of: $0) }
            .joined(separator: ", ")
        let rows = try await pool.query(
            PostgresQuery(
                "ledger.story",
                """
                select f.environment, f.bundle_id, n.notification_uuid, n.type, n.subtype, n.consumption_request_reason,
                       coalesce(n.received_at, r.received_at) as received_at,
                       coalesce(n.applied_at, r.applied_at) as applied_at, coalesce(n.outcome, r.outcome) as outcome,
                       coalesce(r.kind, 'notification') as kind, coalesce(n.source, r.source) as source,
                       t.price, t.currency, \(unescaped: facts)
                  from storehook.purchase_facts f
                  left join storehook.notifications n
                       on n.original_transaction_id = f.original_transaction_id and n.bundle_id = f.bundle_id
                      and n.environment = f.environment and n.signed_at = f.signed_at and n.outbox_id = f.outbox_id
                  left join storehook.records r on r.outbox_id = f.outbox_id
                  left join storehook.transactions t
                       on t.transaction_id = f.transaction_id and t.bundle_id = f.bundle_id
                      and t.environment = f.environment
                 where f.original_transaction_id = \(originalTransactionID)
                 order by f.environment, f.bundle_id
                """))
        var purchases: [(purchase: PurchaseKey, pieces: [RecordedEvidence])] = []
        for row in rows {
            let purchase = PurchaseKey(
                environment: try row.decode("environment"), bundleID: try row.decode("bundle_id"),
                originalTransactionID: originalTransactionID)
            if purchases.last?.purchase != purchase { purchases.append((purchase, [])) }
            purchases[purchases.count - 1].pieces.append(try RecordedEvidence(row, of: purchase))
        }
        return purchases
    }
}

/// A row of `storehook.purchase_facts` with its notification, or with the record that came by itself.
private struct RecordedEvidence {
    let outboxID: Int64
    let evidence: PurchaseEvidence
    let learned: RecordedStory.Learned?

    init(_ row: PostgresRow, of purchase: PurchaseKey) throws {
        let statement = try PurchaseStatement(row, at: 13, of: purchase)
        outboxID = statement.outboxID
        evidence = PurchaseEvidence(
            notificationUUID: try row.decode("notification_uuid", as: UUID?.self).map(UniqueIdentifier.init),
            type: try row.decode("type", as: String?.self).map(NotificationType.init(rawValue:)),
            subtype: try row.decode("subtype", as: String?.self).map(NotificationSubtype.init(rawValue:)),
            signedAt: statement.signedAt, reportedStatus: statement.reportedStatus, transaction: statement.transaction,
            renewal: statement.renewal,
            price: Money(try row.decode("price"), in: try row.decode("currency")),
            consumptionRequestReason: try row.decode("consumption_request_reason"))
        learned = try row.decode("applied_at", as: PostgresTimestamp?.self).map { appliedAt in
            RecordedStory.Learned(
                kind: try row.decode("kind", among: EvidenceKind.self),
                source: try row.decode("source", among: EvidenceSource.self),
                receivedAt: Timestamp(try row.decode("received_at", as: PostgresTimestamp.self)),
                appliedAt: Timestamp(appliedAt), outcome: try row.decode("outcome", among: LedgerOutcome.self))
        }
    }

    /// The pieces of one batch take effect at one instant; within it they are taken in the order of the outbox.
    func isLearned(before other: RecordedEvidence) -> Bool {
        let (own, others) = (
            learned?.appliedAt ?? evidence.signedAt, other.learned?.appliedAt ?? other.evidence.signedAt
        )
        return (own, outboxID) < (others, other.outboxID)
    }
}
