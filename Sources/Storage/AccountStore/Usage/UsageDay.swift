package import Accounts
package import Base
import Foundation
import Postgres

/// The usage of a feature by accounts of a tier, in a period.
package struct UsageDay: Sendable, Hashable {
    /// The day, or the first day of the month.
    package var period: CalendarDay
    /// The feature's id.
    package var feature: String
    /// What the feature is counted over. By day, the value is the sum of the days. By month, it is the usage of the month so far; in total, the usage
    /// so far: both at the latest counted day of the period.
    package var countedBy: Catalog.UsagePeriod
    /// The tier of the accounts in Production, at the end of each day.
    package var tier: String
    /// The number of accounts with usage; nil for a sum of several days: an account may be in each of them.
    package var accounts: Int64?
    /// The amount of their usage.
    package var used: Int64
    /// Whether the value is final: the period has ended, all its days were counted, and no more reports of them are accepted.
    package var isComplete: Bool
}

extension Usage {
    /// An expression: the time after the end of a day or month in which reports of it are accepted.
    static let reportingTime = "interval '840 hours'"
    /// An expression: the least time after that end for which counters are kept, see ``Usage/dropOld()``.
    static let keepingTime = "interval '888 hours'"

    /// The usage of some days, by day or by month, in the order of periods, features and tiers.
    /// - Parameters:
    ///   - isByMonth: whether periods are months. They include only days of the question.
    ///   - most: the most periods. The answer has at most twice as many rows, and leaves further ones out.
    /// - Returns: the usage, and the first days of the periods with a count.
    /// - Throws: `PostgresError`.
    package func days(
        _ days: ClosedRange<CalendarDay>, byMonth isByMonth: Bool, atMost most: Int
    ) async throws -> (usage: [UsageDay], counted: Set<CalendarDay>) {
        var (usage, counted) = ([UsageDay](), Set<CalendarDay>())
        for row in try await pool.query(.days(days, byMonth: isByMonth, limit: Int64(most) * 2 + 1)) {
            guard let period = CalendarDay(try row.decode("starts", as: String.self)) else { continue }
            counted.insert(period)
            guard let feature = try row.decode("feature", as: String?.self) else { continue }
            usage.append(
                UsageDay(
                    period: period, feature: feature,
                    countedBy: try row.decode("period", among: Catalog.UsagePeriod.self),
                    tier: try row.decode("tier"), accounts: try row.decode("accounts"), used: try row.decode("used"),
                    isComplete: try row.decode("is_complete")))
        }
        return (usage, counted)
    }

    /// Counts the usage of a day, and replaces its earlier count. Counters that ended with the day may be counted at any time. Those that go on, of a
    /// month or in total, have their value of now: they are counted within an hour of the day's end, or not at all.
    static func count(
        _ day: CalendarDay, until end: Timestamp, under catalog: Catalog, _ session: borrowing PostgresSession
    ) throws {
        try session.query(
            PostgresQuery(
                "usage.uncount_day",
                "delete from storehook.usage_days where day = \(day.description)::text::date and is_over"))
        try session.query(.count(day, until: end, lowest: catalog.free.id), deadline: .seconds(600))
        try session.query(
            PostgresQuery(
                "usage.note_day",
                "update storehook.account_days set usage_counted_at = now() where day = \(day.description)::text::date")
        )
    }
}

extension PostgresQuery {
    /// Further ends of days, by an earlier time zone of the catalog: they are at most 26 hours away.
    fileprivate static func count(_ day: CalendarDay, until end: Timestamp, lowest: String) -> PostgresQuery {
        PostgresQuery(
            "usage.count_day",
            """
            with w as materialized (
                select *, date_trunc('month', day::timestamp)::date as month,
                       extract(day from day + 1) = 1 as ends_month,
                       now() < ends_at + interval '1 hour' as is_soon
                  from (select \(day.description)::text::date as day, \(PostgresTimestamp(end))::timestamptz as ends_at) d
            ), c as (
                select c.token, c.feature, c.period, true as is_over, c.used
                  from w join storehook.usage_counters c
                    on c.resets_at between w.ends_at - interval '26 hours' and w.ends_at + interval '26 hours'
                 where c.period = 'day' and c.starts_on = w.day
                union all
                select c.token, c.feature, c.period, w.ends_month, c.used
                  from w join storehook.usage_counters c
                    on c.resets_at between w.ends_at - interval '26 hours' and w.ends_at + interval '770 hours'
                 where c.period = 'month' and c.starts_on = w.month and (w.ends_month or w.is_soon)
                union all
                select c.token, c.feature, c.period, false, c.used
                  from w join storehook.usage_counters c on c.period = 'total' and w.is_soon
            )
            insert into storehook.usage_days (day, feature, period, tier, is_over, accounts, used)
            select w.day, c.feature, c.period, coalesce(s.tier, \(lowest)), c.is_over, count(*), least(sum(c.used), 9223372036854775807)::bigint
              from w
             cross join c
              left join storehook.account_status_at(\(PostgresTimestamp(end))) s on s.token = c.token and s.environment = 'Production'
             where c.used > 0
             group by 1, 2, 3, 4, 5
            """)
    }

    /// Of usage by month and in total, the latest counted day of the period counts.
    fileprivate static func days(
        _ days: ClosedRange<CalendarDay>, byMonth isByMonth: Bool, limit: Int64
    ) -> PostgresQuery {
        let soon = "a.counted_at < a.ends_at + interval '1 hour'"
        return PostgresQuery(
            "usage.days",
            """
            with d as materialized (
                select a.day, p.starts, p.last,
                       max(a.day) filter (where \(unescaped: soon)) over held as last_soon,
                       max(a.day) filter (where \(unescaped: soon) or a.day = p.last) over held as last_counted,
                       a.usage_counted_at >= a.ends_at + \(unescaped: Usage.reportingTime) as is_complete,
                       count(*) over held = p.last - p.starts + 1
                       and bool_and(a.usage_counted_at >= a.ends_at + \(unescaped: Usage.reportingTime)) over held as are_complete
                  from storehook.account_days a
                 cross join lateral (
                    select case when \(isByMonth) then date_trunc('month', a.day::timestamp)::date else a.day end as starts,
                           case when \(isByMonth) then (date_trunc('month', a.day::timestamp) + interval '1 month')::date - 1 else a.day end as last) p
                 where a.day between \(days.lowerBound.description)::text::date and \(days.upperBound.description)::text::date
                   and a.usage_counted_at is not null
                window held as (partition by p.starts)
            )
            select d.starts::text as starts, u.feature, u.period, u.tier, case when count(*) = 1 then max(u.accounts) end as accounts,
                   least(sum(u.used), 9223372036854775807)::bigint as used,
                   bool_and(case u.period when 'day' then d.are_complete when 'month' then u.is_over and d.is_complete
                                          else d.day = d.last end) as is_complete
              from d
              left join storehook.usage_days u
                on u.day = d.day and (u.period = 'day' or u.period = 'month' and d.day = d.last_counted
                                      or u.period = 'total' and d.day = d.last_soon)
             group by d.starts, u.feature, u.period, u.tier
             order by d.starts, u.feature, u.period, u.tier
             limit \(limit)
            """)
    }
}
