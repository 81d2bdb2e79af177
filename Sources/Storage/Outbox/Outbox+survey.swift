import Postgres

extension Outbox {
    /// What the connected user lacks to do a role's part, as `insert on outbox`; empty if nothing.
    ///
    /// Read from the catalogues by name, so that it answers also where the user may not even see the schema.
    package func missingRights(of role: DatabaseRole) async throws -> [String] {
        let needs = role.needs.flatMap { need in need.privileges.map { (need.object, $0) } }
        return try await pool.query(
            PostgresQuery(
                "outbox.missing_rights",
                """
                with needs as (
                    select * from unnest(\(needs.map(\.0)), \(needs.map(\.1))) with ordinality as n (object, privilege, place)
                ), held as (
                    select n.place,
                           coalesce(
                               bool_or(case when c.relkind = 'S' then has_sequence_privilege(c.oid, n.privilege)
                                            else has_table_privilege(c.oid, n.privilege) end),
                               bool_or(has_function_privilege(p.oid, n.privilege)), false) as is_held
                      from needs n
                      left join pg_class c on n.privilege <> 'execute' and c.relname = n.object
                                          and c.relnamespace = (select oid from pg_namespace where nspname = 'storehook')
                      left join pg_proc p on n.privilege = 'execute' and p.proname = n.object
                                         and p.pronamespace = (select oid from pg_namespace where nspname = 'storehook')
                     group by n.place
                )
                select 'usage on schema storehook' as lack, 0 as place from pg_namespace
                 where nspname = 'storehook' and not has_schema_privilege(oid, 'usage')
                union all
                select n.privilege || ' on ' || n.object, n.place from needs n join held using (place) where not is_held
                 order by place
                """)
        ).map { try $0.decode("lack") }
    }

    /// For how many days from tomorrow on a partition stands ready without a gap, and how many days of the last month had
    /// to do without one.
    package func daysAhead() async throws -> (ready: Int64, without: Int64) {
        let row = try await pool.query(
            PostgresQuery(
                "outbox.days_ahead",
                """
                with today as (select (now() at time zone 'UTC')::date as day)
                select (select count(*)
                          from (select d.day, row_number() over (order by d.day) as n
                                  from storehook.outbox_days d, today where d.has_partition and d.day > today.day) ahead,
                               today
                         where ahead.day = today.day + ahead.n::integer),
                       (select count(*) from storehook.outbox_days d, today
                         where not d.has_partition and d.day between today.day - 6 and today.day)
                """)
        ).one()
        return try (row.decode(0), row.decode(1))
    }

    /// Open dead letters by reason code, the most frequent first.
    package func deadLetterCounts(
        _ filter: DeadLetterFilter = DeadLetterFilter()
    ) async throws -> [(reason: String, count: Int64)] {
        try await pool.query(
            PostgresQuery(
                "outbox.dead_letter_counts",
                """
                select reason, count(*)
                  from storehook.dead_letters_open
                 where (\(filter.ids) is null or id = any(\(filter.ids)))
                   and (\(filter.reason) is null or reason = \(filter.reason))
                   and (\(filter.type) is null or type = \(filter.type))
                   and (\(filter.since) is null or dead_at >= \(filter.since))
                 group by reason
                 order by count(*) desc, reason
                """)
        ).map { (try $0.decode(0), try $0.decode(1)) }
    }
}
