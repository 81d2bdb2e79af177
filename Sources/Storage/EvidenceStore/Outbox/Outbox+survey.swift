import Postgres

extension Outbox {
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
                  from storehook.dead_letters_open d
                 where \(letter: "d", fits: filter)
                 group by reason
                 order by count(*) desc, reason
                """)
        ).map { (try $0.decode(0), try $0.decode(1)) }
    }
}
