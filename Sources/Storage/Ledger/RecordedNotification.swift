public import AppStorePayloads
import Postgres

/// A notification as it is recorded.
public struct RecordedNotification: Sendable, Hashable {
    /// The line it is about; nil for what concerns no purchase.
    public var originalTransactionID: String?
    /// Applied, or parked.
    public var outcome: LedgerOutcome
    /// When Apple signed it.
    public var signedAt: Timestamp
    /// When it was stored.
    public var receivedAt: Timestamp
    /// When it took effect.
    public var appliedAt: Timestamp
    /// Where the bytes that Apple signed are stored, until retention drops them.
    public var evidence: EvidenceReference

    init(_ row: PostgresRow) throws {
        outcome = try row.decode("outcome", among: LedgerOutcome.self)
        originalTransactionID = try row.decode("original_transaction_id")
        signedAt = Timestamp(try row.decode("signed_at", as: PostgresTimestamp.self))
        receivedAt = Timestamp(try row.decode("received_at", as: PostgresTimestamp.self))
        appliedAt = Timestamp(try row.decode("applied_at", as: PostgresTimestamp.self))
        evidence = EvidenceReference(
            outboxID: try row.decode("outbox_id"), receivedAt: try row.decode("received_at"))
    }
}
