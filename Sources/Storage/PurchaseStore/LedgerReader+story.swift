import AppStorePayloads
import Base
import Foundation
import Postgres
import Subscriptions

extension LedgerReader {
    /// What happened to the purchases of this original transaction, each in the order of signing: more than one only where
    /// two apps or environments share the number.
    public func story(of originalTransactionID: String) async throws -> [RecordedStory] {
        try await evidence(of: originalTransactionID).map { story(of: $0.purchase, $0.pieces) }
    }

    /// The story of a purchase by some of its evidence.
    func story(of purchase: PurchaseKey, _ pieces: [RecordedEvidence]) -> RecordedStory {
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

    /// All evidence about each purchase with this original transaction.
    private func evidence(
        of originalTransactionID: String
    ) async throws -> [(purchase: PurchaseKey, pieces: [RecordedEvidence])] {
        try await pool.withTransaction(TransactionOptions(isReadOnly: true, name: "ledger.story")) {
            try RecordedEvidence.all(of: [originalTransactionID], $0)
        }
    }
}
