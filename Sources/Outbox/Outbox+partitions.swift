import Postgres

extension Outbox {
    /// Makes the outbox's partitions from yesterday to `daysAhead` days from now, where they are missing.
    /// - Returns: how many were made.
    @discardableResult
    public func ensurePartitions(daysAhead: Int32 = 7) async throws -> Int {
        let rows = try await pool.query(
            PostgresQuery("outbox.ensure_partitions", "select storehook.ensure_outbox_partitions(\(daysAhead))"))
        return try Int(rows.one().decode(0, as: Int32.self))
    }
}
