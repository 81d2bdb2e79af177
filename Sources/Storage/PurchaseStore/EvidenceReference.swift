public import Postgres

/// Where the bytes of recorded evidence are stored.
public struct EvidenceReference: Sendable, Hashable {
    /// Their row in the outbox.
    public var outboxID: Int64
    /// When they were stored.
    public var receivedAt: PostgresTimestamp
    /// The app that it was recorded for: renewal info names none itself. Nil where the reader does not need it.
    public var bundleID: String?
}
