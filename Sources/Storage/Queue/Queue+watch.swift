import Postgres

extension Queue {
    /// The queue by state: always the three rows ready, scheduled, leased. What was given up is not in the table.
    package func depth() async throws -> [QueueDepth] {
        try await pool.query(
            PostgresQuery(
                "\(table.statements).states",
                """
                select s.state, count(q.received_at) as count,
                       coalesce(extract(epoch from now() - min(q.received_at)), 0)::double precision
                           as oldest_age_seconds
                  from (values ('ready', 1), ('scheduled', 2), ('leased', 3)) as s (state, place)
                  left join (select case when due_at <= now() then 'ready'
                                         when lease_token is null then 'scheduled' else 'leased' end as state, received_at
                               from \(unescaped: table.name)) q using (state)
                 group by s.state, s.place
                 order by s.place
                """)
        ).map { try QueueDepth($0) }
    }

    /// How many are still to be done, whatever state they are in.
    package func pending() async throws -> Int64 {
        try await pool.query(
            PostgresQuery("\(table.statements).pending", "select count(*) from \(unescaped: table.name)")
        ).one().decode(0)
    }
}
