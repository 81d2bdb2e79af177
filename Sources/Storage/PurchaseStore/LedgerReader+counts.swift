import Postgres

extension LedgerReader {
    /// How many subscriptions have each status now, the most frequent first.
    package func statusCounts() async throws -> [(status: String, count: Int64)] {
        try await pool.query(
            PostgresQuery(
                "ledger.status_counts",
                """
                select status, count(*) from storehook.subscription_status group by status
                 order by count(*) desc, status
                """)
        ).map { (try $0.decode(0), try $0.decode(1)) }
    }
}
