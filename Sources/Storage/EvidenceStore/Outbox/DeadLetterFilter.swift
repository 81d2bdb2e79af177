package import Postgres

/// Which open dead letters are meant; what is nil does not restrict.
package struct DeadLetterFilter: Sendable, Hashable {
    /// These letters alone.
    package var ids: [Int64]?
    /// With this reason code.
    package var reason: String?
    /// Of this notification type, as the letters themselves say.
    package var type: String?
    /// Buried at or after this instant.
    package var since: PostgresTimestamp?

    /// A filter; without arguments, every open letter.
    package init(
        ids: [Int64]? = nil, reason: String? = nil, type: String? = nil, since: PostgresTimestamp? = nil
    ) {
        self.ids = ids
        self.reason = reason
        self.type = type
        self.since = since
    }
}
