package import Postgres

/// One state of a queue: how many rows are in it, and the age of the oldest.
package struct QueueDepth: Sendable, Hashable {
    /// The state.
    package var state: QueueState
    /// Rows in that state.
    package var count: Int64
    /// The time since the oldest of them was received; zero where there is none.
    package var oldestAge: Duration
    /// The most frequent reason why they were last put off, or given up; nil where none was.
    package var reason: String?
    /// When the first of them becomes due; nil where all are due, or given up.
    package var nextDueAt: PostgresTimestamp?

    /// Reads the columns state, count, oldest_age_seconds, reason and next_due_at.
    package init(_ row: PostgresRow) throws {
        state = try row.decode("state", among: QueueState.self)
        count = try row.decode("count")
        oldestAge = .seconds(try row.decode("oldest_age_seconds", as: Double.self))
        reason = try row.decode("reason")
        nextDueAt = try row.decode("next_due_at")
    }
}
