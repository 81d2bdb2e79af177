package import Postgres

/// A selection of open dead letters; nil does not restrict.
package struct DeadLetterFilter: Sendable, Hashable {
    /// Only these letters.
    package var ids: [Int64]?
    /// With this reason code.
    package var reason: String?
    /// Of this notification type, as the payloads say.
    package var type: String?
    /// Dead since this instant or later.
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
