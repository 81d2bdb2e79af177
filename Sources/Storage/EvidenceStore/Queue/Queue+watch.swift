import Postgres

extension Queue {
    /// The queue by state: always the three rows ready, scheduled, leased. Given-up rows are not in the table.
    package func depth() async throws -> [QueueDepth] {
        try await pool.query(
            PostgresQuery(
                "\(table.statements).states",
                """
                select s.state, coalesce(sum(q.rows), 0)::bigint as count,
                       coalesce(extract(epoch from now() - min(q.oldest)), 0)::double precision as oldest_age_seconds,
                       (array_agg(q.last_reason order by q.rows desc, q.last_reason)
                            filter (where q.last_reason is not null))[1] as reason,
                       min(q.next_due_at) as next_due_at
                  from (values ('ready', 1), ('scheduled', 2), ('leased', 3)) as s (state, place)
                  left join (select case when due_at <= now() then 'ready'
                                         when lease_token is null then 'scheduled' else 'leased' end as state,
                                    last_reason, count(*) as rows, min(received_at) as oldest,
                                    min(due_at) filter (where due_at > now()) as next_due_at
                               from \(unescaped: table.name)
                              group by 1, 2) q using (state)
                 group by s.state, s.place
                 order by s.place
                """)
        ).map { try QueueDepth($0) }
    }

    /// How many rows are still to be processed, in any state.
    package func pending() async throws -> Int64 {
        try await pool.query(
            PostgresQuery("\(table.statements).pending", "select count(*) from \(unescaped: table.name)")
        ).one().decode(0)
    }
}
