package import Postgres

extension Outbox {
    /// Up to which instant everything that was stored is done, or has been tried: now, where nothing waits.
    ///
    /// What is put off after a try is not waited for, nor what a worker died of: either may take hours.
    /// - Throws: `PostgresError`.
    package func reached() async throws -> PostgresTimestamp {
        try await pool.query(
            PostgresQuery(
                "outbox.reached",
                """
                select least(
                    clock_timestamp(),
                    (select due_at from storehook.outbox_queue
                      where due_at <= clock_timestamp() order by due_at, id limit 1),
                    (select min(received_at) from storehook.outbox_queue
                      where due_at > clock_timestamp() and lease_token is not null and attempts <= 1))
                """)
        ).one().decode(0)
    }
}
