import AppStorePayloads
import Base
import Foundation
import Postgres
import Subscriptions

/// A row of `storehook.purchase_facts` with its notification, or with the record that came by itself.
struct RecordedEvidence: Sendable {
    let statement: PurchaseStatement
    let evidence: PurchaseEvidence
    let learned: RecordedStory.Learned?

    init(_ row: PostgresRow, of purchase: PurchaseKey) throws {
        statement = try PurchaseStatement(row, at: 14, of: purchase)
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
        (appliedAt, statement.outboxID) < (other.appliedAt, other.statement.outboxID)
    }

    /// When it took effect; of what is not recorded, when it was signed.
    var appliedAt: Timestamp { learned?.appliedAt ?? evidence.signedAt }

    /// All evidence about each purchase with one of these original transactions: index look-ups, whatever the tables' size.
    static func all(
        of ids: [String], _ session: borrowing PostgresSession
    ) throws -> [(purchase: PurchaseKey, pieces: [RecordedEvidence])] {
        let facts = PurchaseStatement.columns.dropFirst(3).map { PurchaseStatement.expression(of: $0) }
            .joined(separator: ", ")
        let rows = try session.query(
            PostgresQuery(
                "ledger.story",
                """
                select f.environment, f.bundle_id, f.original_transaction_id, n.notification_uuid, n.type, n.subtype, n.consumption_request_reason,
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
                 where f.original_transaction_id = any (\(ids))
                 order by f.original_transaction_id, f.environment, f.bundle_id
                """))
        var purchases: [(purchase: PurchaseKey, pieces: [RecordedEvidence])] = []
        for row in rows {
            let purchase = try PurchaseKey(row)
            if purchases.last?.purchase != purchase { purchases.append((purchase, [])) }
            purchases[purchases.count - 1].pieces.append(try RecordedEvidence(row, of: purchase))
        }
        return purchases
    }
}
