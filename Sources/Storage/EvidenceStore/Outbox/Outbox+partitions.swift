import Postgres

extension Outbox {
    /// Makes the outbox's missing partitions from yesterday to `daysAhead` days from now, and those of days of the
    /// last month that had none.
    /// - Returns: how many were made.
    /// - Throws: `PostgresError`, `lockNotAvailable` where another session goes on reading the outbox.
    @discardableResult
    package func ensurePartitions(daysAhead: Int32 = 7) async throws -> Int {
        let query = PostgresQuery(
            "outbox.ensure_partitions", "select storehook.ensure_outbox_partitions(\(daysAhead))")
        // Days without a partition may have left gigabytes to move.
        let rows = try await patiently { try await pool.query(query, deadline: .seconds(600)) }
        return try Int(rows.one().decode(0, as: Int32.self))
    }
}
