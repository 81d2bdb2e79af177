package import Postgres

extension Outbox {
    /// Up to which instant everything that was stored is done, or has been tried: now, where nothing waits.
    ///
    /// What is put off after a try is not waited for, nor what a worker died of: either may take hours.
    ///
    /// Each worker asks about once a second. The instant is the statement's, not the clock's, which would be read for each row and
    /// make it read them all.
    /// - Throws: `PostgresError`.
    package func reached() async throws -> PostgresTimestamp {
        try await pool.query(
            PostgresQuery(
                "outbox.reached",
                """
                select least(
                    statement_timestamp(),
                    (select due_at from storehook.outbox_queue
                      where due_at <= statement_timestamp() order by due_at, id limit 1),
                    (select min(received_at) from storehook.outbox_queue
                      where due_at > statement_timestamp() and lease_token is not null and attempts <= 1))
                """)
        ).one().decode(0)
    }
}
