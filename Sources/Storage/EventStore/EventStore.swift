package import Events
package import Postgres

/// Events as they are kept: written in the transaction that causes them, numbered in the order of the account or purchase they
/// are told of, and put into one order for all that is gapless and in which nothing ever appears before something that was read.
///
/// Whoever tells holds what it tells of: purchases by their keys (``/Ledger/Ledger/hold(_:_:)``), then accounts by their tokens.
/// So numbers are given by one transaction after the other, and a number is never given twice.
package struct EventStore: Sendable {
    let pool: PostgresPool
    /// What the operator decides.
    package var rules: TellingRules

    /// The store behind a pool of connections.
    package init(_ pool: PostgresPool, rules: TellingRules = TellingRules()) {
        self.pool = pool
        self.rules = rules
    }

    /// Puts events that are committed into the order in which readers follow them.
    /// - Returns: how many; none also where another session is at it.
    /// - Throws: `PostgresError`.
    @discardableResult
    package func place(atMost limit: Int = 10_000) async throws -> Int {
        let placed: Int32 = try await pool.query(
            PostgresQuery("events.place", "select storehook.place_events(\(Int32(clamping: limit)))")
        ).one().decode(0)
        return Int(placed)
    }

    /// Makes partitions from yesterday to so many days ahead, where they are missing; answers how many.
    @discardableResult
    package func ensurePartitions(daysAhead: Int = 7) async throws -> Int {
        let made: Int32 = try await pool.query(
            PostgresQuery(
                "events.ensure_partitions",
                "select storehook.ensure_event_partitions(\(Int32(clamping: daysAhead)))")
        ).one().decode(0)
        return Int(made)
    }
}
