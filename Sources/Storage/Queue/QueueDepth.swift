package import Postgres

/// One state of a queue: how many rows are in it, and since when the oldest.
package struct QueueDepth: Sendable, Hashable {
    /// Which state.
    package var state: QueueState
    /// Rows in that state.
    package var count: Int64
    /// Since the oldest of them was received; zero where there is none.
    package var oldestAge: Duration

    /// Reads state, count and age in seconds, in this order.
    package init(_ row: PostgresRow) throws {
        let name = try row.decode(0, as: String.self)
        guard let state = QueueState(rawValue: name) else {
            throw PostgresError(.decoding, "a queue's state that is not known here", operation: "decode")
        }
        self.state = state
        count = try row.decode(1)
        oldestAge = .seconds(try row.decode(2, as: Double.self))
    }
}
