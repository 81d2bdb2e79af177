package import Postgres

/// One state of a queue: how many rows are in it, and since when the oldest.
package struct QueueDepth: Sendable, Hashable {
    /// Which state.
    package var state: QueueState
    /// Rows in that state.
    package var count: Int64
    /// Since the oldest of them was received; zero where there is none.
    package var oldestAge: Duration

    /// Reads the columns state, count and oldest_age_seconds.
    package init(_ row: PostgresRow) throws {
        state = try row.decode("state", among: QueueState.self)
        count = try row.decode("count")
        oldestAge = .seconds(try row.decode("oldest_age_seconds", as: Double.self))
    }
}
