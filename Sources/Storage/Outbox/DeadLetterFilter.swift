public import Postgres

/// Which open dead letters are meant; what is nil does not restrict.
public struct DeadLetterFilter: Sendable, Hashable {
    /// These letters alone.
    public var ids: [Int64]?
    /// With this reason code.
    public var reason: String?
    /// Of this notification type, as the letters themselves say.
    public var type: String?
    /// Buried at or after this instant.
    public var since: PostgresTimestamp?

    /// A filter; without arguments, every open letter.
    public init(
        ids: [Int64]? = nil, reason: String? = nil, type: String? = nil, since: PostgresTimestamp? = nil
    ) {
        self.ids = ids
        self.reason = reason
        self.type = type
        self.since = since
    }
}
