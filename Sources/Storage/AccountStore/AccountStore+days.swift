import Accounts
package import Base
import Foundation
import Postgres

/// The numbers of accounts in an environment at the end of a day.
package struct AccountDay: Sendable, Hashable {
    /// The day, in the time zone of that time's catalog.
    package var day: CalendarDay
    /// The instant of the counts: the first one after the day.
    package var endsAt: Timestamp
    /// The counts. ``AccountCounts/countedAt`` is the instant at which they were worked out. Accounts that had been erased by then do not count.
    package var counts: AccountCounts
}

extension AccountStore {
    /// Today, in the time zone of the current catalog; before the first one, in UTC. Accounts are counted by these days.
    /// - Throws: `PostgresError`; ``UnreadableCatalog`` where a newer release applied the catalog.
    package func today() async throws -> CalendarDay { try await today(at: nil) }

    /// The last day that had ended at an instant of the past, in the same zone.
    /// - Throws: `PostgresError`; ``UnreadableCatalog`` likewise.
    package func ended(by instant: Timestamp) async throws -> CalendarDay {
        CalendarDay(number: try await today(at: PostgresTimestamp(instant)).number - 1)
    }

    private func today(at instant: PostgresTimestamp?) async throws -> CalendarDay {
        let zone = try await current()?.catalog.timeZone.identifier ?? "UTC"
        let today: String = try await pool.query(
            PostgresQuery(
                "accounts.today", "select (least(\(instant)::timestamptz, now()) at time zone \(zone))::date::text")
        ).one().decode(0)
        return CalendarDay(today) ?? CalendarDay(number: 0)
    }

    /// The numbers of accounts at the end of some days, in their order. Days without a count are left out.
    /// - Throws: `PostgresError`.
    package func days(_ days: [CalendarDay], in environment: String) async throws -> [AccountDay] {
        let rows = try await pool.query(
            PostgresQuery(
                "accounts.days",
                """
                select d.day::text as day, d.ends_at, d.counted_at, c.standing, c.tier, c.status, c.count
                  from storehook.account_days d
                  left join storehook.account_day_counts c on c.environment = \(environment) and c.day = d.day
                 where d.day = any (\(days.map(\.description))::text[]::date[])
                 order by d.day, c.standing, c.tier, c.status
                """))
        return try rows.reduce(into: []) { kept, row in
            guard let day = CalendarDay(try row.decode("day", as: String.self)) else { return }
            if kept.last?.day != day {
                var counts = AccountCounts()
                counts.countedAt = Timestamp(try row.decode("counted_at", as: PostgresTimestamp.self))
                kept.append(
                    AccountDay(
                        day: day, endsAt: Timestamp(try row.decode("ends_at", as: PostgresTimestamp.self)),
                        counts: counts))
            }
            try kept[kept.count - 1].counts.add(row)
        }
    }

    /// Counts the latest day that has ended and has no count, back to the first account or transaction. So each count of accounts makes up for one
    /// day on which no worker ran, or an earlier release did. Usage of the day is counted with it while it is kept, and again once no more reports
    /// of the day are accepted. The caller has locked the state of counts.
    func keepDay(under catalog: Catalog, _ session: borrowing PostgresSession) throws {
        let zone = catalog.timeZone
        if let row = try session.query(.dueDay(in: zone.identifier)).first,
            let day = CalendarDay(try row.decode(0, as: String.self))
        {
            let end = CalendarDay(number: day.number + 1).start(in: zone)
            let kept = try session.query(.keep(day, until: end, in: zone.identifier)).one()
            try session.query(.count(under: catalog, into: .day, at: end, of: day), deadline: .seconds(600))
            if try kept.decode("has_usage") { try Usage.count(day, until: end, under: catalog, session) }
        }
        if let row = try session.query(.dueUsage).first, let day = CalendarDay(try row.decode("day", as: String.self)) {
            let end = Timestamp(try row.decode("ends_at", as: PostgresTimestamp.self))
            try Usage.count(day, until: end, under: catalog, session)
        }
    }
}

extension PostgresQuery {
    /// The latest day that has ended and has no count, within three years and since the first account or transaction; no row without one.
    fileprivate static func dueDay(in zone: String) -> PostgresQuery {
        PostgresQuery(
            "accounts.due_day",
            """
            select d.day::text
              from (select (now() at time zone \(zone))::date - n as day from generate_series(1, 1096) n) d
             where not exists (select from storehook.account_days a where a.day = d.day)
               and d.day >= (least((select min(known_at) from storehook.accounts),
                                   (select min(starts_at) from storehook.booked_transactions)) at time zone \(zone))::date
             order by d.day desc
             limit 1
            """)
    }

    /// Notes that a day is counted. Returns `has_usage`: whether its usage is still kept.
    fileprivate static func keep(_ day: CalendarDay, until end: Timestamp, in zone: String) -> PostgresQuery {
        PostgresQuery(
            "accounts.keep_day",
            """
            insert into storehook.account_days (day, zone, ends_at)
            values (\(day.description)::text::date, \(zone), \(PostgresTimestamp(end)))
            returning ends_at > now() - \(unescaped: Usage.keepingTime) as has_usage
            """)
    }

    /// A day to count the usage of once more, while it is kept: no more reports of the day are accepted, and its usage was counted before that.
    fileprivate static let dueUsage = PostgresQuery(
        "accounts.due_usage",
        """
        select day::text as day, ends_at from storehook.account_days
         where usage_counted_at < ends_at + \(unescaped: Usage.reportingTime)
           and ends_at <= now() - \(unescaped: Usage.reportingTime)
           and ends_at > now() - \(unescaped: Usage.keepingTime)
         order by day
         limit 1
        """)
}
