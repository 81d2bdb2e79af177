import Postgres

extension Outbox {
    /// The rights that the connected user lacks for a role; empty if none.
    ///
    /// Read from the catalogues by name, so that it also answers where the user may not even see the schema.
    package func missingRights(of role: DatabaseRole) async throws -> [String] {
        let needs = role.needs.sorted { ($0.object, $0.privilege.rawValue) < ($1.object, $1.privilege.rawValue) }
        let rows = try await pool.query(
            PostgresQuery(
                "outbox.missing_rights",
                """
                with schema as (
                    select oid from pg_namespace where nspname = 'storehook'
                ), relation as (
                    select c.oid, c.relname, c.relkind from pg_class c join schema s on c.relnamespace = s.oid
                     where c.relkind in ('r', 'p', 'v', 'S') and not c.relispartition
                ), need as (
                    select *
                      from unnest(\(needs.map(\.object)), \(needs.map { $0.column ?? "" }),
                                  \(needs.map(\.privilege.rawValue))) with ordinality as n (object, part, privilege, place)
                )
                select 0 as place from schema where not has_schema_privilege(oid, 'usage')
                union all
                select n.place from need n
                 where not coalesce(
                    case when n.object = \(DatabaseRight.everyRelation) then
                             (select bool_and(has_table_privilege(r.oid, n.privilege)) from relation r where r.relkind <> 'S')
                         when n.privilege = 'execute' then
                             (select bool_and(has_function_privilege(f.oid, n.privilege))
                                from pg_proc f join schema s on f.pronamespace = s.oid where f.proname = n.object)
                         when n.part <> '' then
                             (select bool_and(has_column_privilege(r.oid, a.attnum, n.privilege))
                                from relation r join pg_attribute a on a.attrelid = r.oid
                               where r.relname = n.object and a.attname = n.part)
                         else
                             (select bool_and(case when r.relkind = 'S' then has_sequence_privilege(r.oid, n.privilege)
                                                   else has_table_privilege(r.oid, n.privilege) end)
                                from relation r where r.relname = n.object)
                    end, false)
                 order by place
                """))
        return try rows.map { row in
            let place: Int64 = try row.decode(0)
            return place == 0 ? "usage on schema storehook" : needs[Int(place) - 1].description
        }
    }

    /// For how many days from tomorrow on a partition is ready without a gap, and for how many of the last month's
    /// there was none.
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

    /// The header segments last seen on verified signatures, the newest first.
    package func newestHeaders(_ limit: Int) async throws -> [[UInt8]] {
        try await pool.query(
            PostgresQuery(
                "outbox.newest_headers",
                "select header from storehook.signature_headers order by first_seen desc, digest limit \(limit)")
        ).map { try $0.decode(0) }
    }

    /// The evidence that cannot be read, among the ten thousand rows due first and the last thousand packed ones.
    /// - Returns: queue rows whose bytes are gone; rows that wait for a header; headers that stored bytes name and the
    ///   database lacks.
    package func unreadableEvidence() async throws -> (withoutBytes: Int64, waiting: Int64, headers: Int64) {
        let row = try await pool.query(
            PostgresQuery(
                "outbox.unreadable_evidence",
                """
                with queued as (
                    select id, received_at, last_reason from storehook.outbox_queue order by due_at, id limit 10000
                ), packed as (
                    select body from storehook.outbox
                     where packing = 1 and octet_length(body) > 40
                     order by received_at desc limit 1000
                ), counted as (
                    -- See PackedBody: a varint of up to three bytes, how many digests there are, and the digests.
                    select body, case when get_byte(body, 0) < 128 then 1 when get_byte(body, 1) < 128 then 2 else 3 end as at
                      from packed
                ), named as (
                    select distinct substr(body, at + 2 + 32 * n, 32) as digest
                      from counted cross join lateral generate_series(0, get_byte(body, at) - 1) as n
                )
                select (select count(*) from queued q
                         where not exists (select from storehook.outbox o
                                            where o.received_at = q.received_at and o.id = q.id)),
                       (select count(*) from queued where last_reason = \(ReasonCode.headerMissing.rawValue)),
                       (select count(*) from named n
                         where not exists (select from storehook.signature_headers h where h.digest = n.digest))
                """)
        ).one()
        return try (row.decode(0), row.decode(1), row.decode(2))
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
