package import Postgres

extension Outbox {
    /// The instant up to which everything stored has been processed, or tried; now, where nothing waits.
    ///
    /// Rows that were put off after a try do not count, nor rows that killed a worker: either may take hours.
    ///
    /// Each worker calls it about once a second. The instant is the statement's, not the clock's, which would be
    /// evaluated for each row and make it read them all.
    /// - Throws: `PostgresError`.
    package func appliedThrough() async throws -> PostgresTimestamp {
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
