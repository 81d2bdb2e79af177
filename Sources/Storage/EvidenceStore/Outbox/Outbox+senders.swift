package import Foundation
package import Postgres

extension Outbox {
    /// The addresses that posted these rows, where known. Call it before the rows are taken off the queue.
    package static func senders(
        of ids: [Int64], token: UUID, _ session: borrowing PostgresSession
    ) throws -> [Int64: String] {
        let rows = try session.query(
            PostgresQuery(
                "outbox.senders",
                """
                select id, host(sender) from storehook.outbox_queue
                 where id = any(\(ids)) and lease_token = \(token) and sender is not null
                """))
        return try Dictionary(
            rows.map { (try $0.decode(0, as: Int64.self), try $0.decode(1, as: String.self)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Counts what addresses posted, and decides which addresses receivers refuse. Call it as the last step of the
    /// transaction that settles the rows: workers with rows from one address wait for each other.
    package static func count(
        _ findings: [SenderFinding], _ limits: JunkLimits, _ session: borrowing PostgresSession
    ) throws {
        guard !findings.isEmpty else { return }
        _ = try session.query(.count(findings, limits))
    }

    /// The addresses that receivers refuse now, and for how much longer.
    package func refusedSenders() async throws -> [(address: String, for: Duration)] {
        try await pool.query(
            PostgresQuery("outbox.refused_senders", "select address, seconds from storehook.refused_senders()")
        ).map { (try $0.decode(0), .seconds(try $0.decode(1, as: Int32.self))) }
    }

    /// Notes that a notification of version 1 was posted just now.
    package func noteOldPost() async throws {
        try await pool.query(PostgresQuery("outbox.note_old_post", "select storehook.note_old_post()"))
    }

    /// The relation of ``lastOldPost()``.
    package static let oldPosts = "old_posts"

    /// When a notification of version 1 was last posted, and how long ago that is; nil where there was none.
    package func lastOldPost() async throws -> (at: PostgresTimestamp, age: Duration)? {
        let rows = try await pool.query(
            PostgresQuery(
                "outbox.old_post",
                """
                select seen_at, extract(epoch from clock_timestamp() - seen_at)::double precision as age
                  from storehook.old_posts
                """))
        guard let row = rows.first else { return nil }
        return (try row.decode("seen_at"), .seconds(try row.decode("age", as: Double.self)))
    }

    /// Discards unverified letters that are older than so many days.
    /// - Returns: how many.
    func expireJunk(after days: Int) async throws -> Int64 {
        var expired: Int64 = 0
        // Some thousand at a time. What a flood leaves over goes in the next hour.
        for _ in 0..<Self.expiryRounds {
            let some: Int64 = try await pool.query(
                PostgresQuery("outbox.expire_junk", "select storehook.expire_junk(\(Int32(clamping: days)))")
            ).one().decode(0)
            expired += some
            if some == 0 { break }
        }
        return expired
    }

    private static let expiryRounds = 200
}

extension PostgresQuery {
    /// Sorted by address: two workers with findings about the same addresses must not wait for each other in a cycle.
    /// An address that is known to be honest is written once an hour.
    fileprivate static func count(_ findings: [SenderFinding], _ limits: JunkLimits) -> PostgresQuery {
        let count: [Int32] = findings.map { $0.junkBytes == nil ? 0 : 1 }
        return PostgresQuery(
            "outbox.count_senders",
            """
            insert into storehook.senders as s
                   (address, verified_at, junk_day, junk_bytes, junk_minute, junk_letters, refused_until)
            select f.address, f.verified_at, f.day, f.bytes, f.minute, f.letters,
                   case when f.verified_at is not null then null
                        when f.bytes > \(limits.bytesPerDay) then now() + interval '1 day'
                        when f.letters > \(limits.perMinute) then now() + interval '10 minutes' end
              from (select sender::inet as address, sum(bytes)::bigint as bytes, sum(letters)::integer as letters,
                           case when bool_or(letters = 0) then now() end as verified_at,
                           (now() at time zone 'UTC')::date as day, date_trunc('minute', now()) as minute
                      from unnest(\(findings.map(\.sender)), \(findings.map { $0.junkBytes ?? 0 }), \(count))
                           as found (sender, bytes, letters)
                     group by sender) f
             where f.letters > 0
                or not exists (select from storehook.senders k
                                where k.address = f.address and k.verified_at > now() - interval '1 hour')
             order by f.address
                on conflict (address) do update
               set verified_at = coalesce(excluded.verified_at, s.verified_at),
                   junk_day = excluded.junk_day,
                   junk_bytes = case when s.junk_day = excluded.junk_day then s.junk_bytes else 0 end
                                + excluded.junk_bytes,
                   junk_minute = excluded.junk_minute,
                   junk_letters = case when s.junk_minute = excluded.junk_minute then s.junk_letters else 0 end
                                  + excluded.junk_letters,
                   refused_until =
                       case when coalesce(excluded.verified_at, s.verified_at) > now() - interval '30 days' then null
                            when excluded.junk_letters > 0
                             and case when s.junk_day = excluded.junk_day then s.junk_bytes else 0 end
                                 + excluded.junk_bytes > \(limits.bytesPerDay)
                            then now() + interval '1 day'
                            when excluded.junk_letters > 0
                             and case when s.junk_minute = excluded.junk_minute then s.junk_letters else 0 end
                                 + excluded.junk_letters > \(limits.perMinute)
                            then greatest(s.refused_until, now() + interval '10 minutes')
                            else s.refused_until end
            """)
    }
}
