import Accounts
package import Base
import Foundation
import Postgres

/// How many accounts there were at the end of a day, in an environment.
package struct AccountDay: Sendable, Hashable {
    /// The day, of the catalog's time zone at that time.
    package var day: CalendarDay
    /// The first instant behind it, which the counts are of.
    package var endsAt: Timestamp
    /// The counts. ``AccountCounts/countedAt`` is when they were worked out: accounts that had been erased by then are not in them.
    package var counts: AccountCounts
}

extension AccountStore {
    /// How many accounts there were at the end of some days, in their order. Days that were not counted are left out.
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

    /// Counts one day that has ended and was not counted yet, the latest first, back to the first one of which anything is known: so days
    /// on which no worker ran, and those before the release that counts days, come one with each count of accounts. Usage is counted with
    /// it while it is kept, and again when nothing more is reported of the day. The transaction has locked the state of counts.
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
    /// The latest day that has ended and was not counted, of the last three years and since anything was known; no row where there is none.
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

    /// Notes that a day is counted; `has_usage` is whether its usage is still kept.
    fileprivate static func keep(_ day: CalendarDay, until end: Timestamp, in zone: String) -> PostgresQuery {
        PostgresQuery(
            "accounts.keep_day",
            """
            insert into storehook.account_days (day, zone, ends_at)
            values (\(day.description)::text::date, \(zone), \(PostgresTimestamp(end)))
            returning ends_at > now() - \(unescaped: Usage.keepingTime) as has_usage
            """)
    }

    /// A day of which nothing more is reported, and whose usage was counted before that, while it is still kept.
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
