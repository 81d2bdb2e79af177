import Postgres

extension BenchDatabase {
    /// From `received_at`, which is when the storing transaction began, by the database's clock: the store's own commit is
    /// in it. A commit's timestamp is taken when its record is written, just before that is flushed.
    /// - Parameter opens: of those stored from then on; of all where it is nil.
    /// - Returns: how long each took, and whether commits are dated.
    func appliedAfter(since opens: PostgresTimestamp? = nil) async throws -> (latencies: Latencies, isExact: Bool) {
        let isExact: Bool = try await pool.query(
            "select current_setting('track_commit_timestamp')::boolean"
        ).one().decode(0)
        let end = isExact ? "pg_xact_commit_timestamp(xmin)" : "applied_at"
        var latencies = Latencies()
        let rows = try await pool.query(
            """
            select (extract(epoch from \(unescaped: end) - received_at) * 1000000)::bigint from storehook.notifications
             where received_at >= coalesce(\(opens), '-infinity')
            """, deadline: .seconds(300))
        for row in rows { latencies.record(microseconds: try row.decode(0)) }
        return (latencies, isExact)
    }
}
