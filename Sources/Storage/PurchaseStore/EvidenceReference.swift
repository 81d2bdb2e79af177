public import Postgres

/// Where the bytes that recorded evidence came from are stored, for whoever keeps them.
public struct EvidenceReference: Sendable, Hashable {
    /// Their row in the outbox.
    public var outboxID: Int64
    /// When they were stored.
    public var receivedAt: PostgresTimestamp
    /// The app that it was recorded for: renewal info names none itself. Nil where nobody needs it.
    public var bundleID: String?
}
