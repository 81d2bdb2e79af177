public import AppStorePayloads
public import Outbox
import Postgres

/// A notification as it is recorded, with the bytes that Apple signed.
public struct RecordedNotification: Sendable, Hashable {
    /// The line it is about; nil for what concerns no purchase.
    public var originalTransactionID: String?
    /// `applied` or `parked`.
    public var outcome: String
    /// When Apple signed it.
    public var signedAt: Timestamp
    /// When it was stored.
    public var receivedAt: Timestamp
    /// When it took effect.
    public var appliedAt: Timestamp
    /// The compact JWS, byte for byte, or why it cannot be read; nil once retention has dropped it.
    public var body: Result<[UInt8], UnreadableBody>?

    init(_ row: PostgresRow, body: Result<[UInt8], UnreadableBody>?) throws {
        originalTransactionID = try row.decode("original_transaction_id")
        outcome = try row.decode("outcome")
        signedAt = Timestamp(try row.decode("signed_at", as: PostgresTimestamp.self))
        receivedAt = Timestamp(try row.decode("received_at", as: PostgresTimestamp.self))
        appliedAt = Timestamp(try row.decode("applied_at", as: PostgresTimestamp.self))
        self.body = body
    }
}
