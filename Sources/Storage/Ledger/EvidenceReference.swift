public import Postgres

/// Where the bytes that a recorded notification came from are stored, for whoever keeps them.
public struct EvidenceReference: Sendable, Hashable {
    /// Their row in the outbox.
    public var outboxID: Int64
    /// When they were stored.
    public var receivedAt: PostgresTimestamp
}
