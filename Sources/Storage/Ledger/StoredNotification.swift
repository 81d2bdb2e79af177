public import Postgres

/// A recorded notification with the bytes it came from, for deriving everything anew.
public struct StoredNotification: Sendable {
    /// Its row in the outbox.
    public var outboxID: Int64
    /// When it was stored.
    public var receivedAt: PostgresTimestamp
    /// The compact JWS.
    public var body: [UInt8]
}
