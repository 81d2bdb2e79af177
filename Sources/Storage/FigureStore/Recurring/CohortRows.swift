import Base
import Figures
import Postgres

/// The customers of days, and how many of them are retained, in SQL.
enum CohortRows {
    /// Parts of a WITH, behind ``RecurringChanges/parts``.
    ///
    /// - `cohort_checks`: the past instants that decide whether customers of a day are retained (`day`, `months`, `at`);
    /// - `cohorts`: the customers of ``FigureMeasure/customerNew`` on days with such an instant, each with the place of its row;
    /// - `retained`: the customers that pay at one of these instants.
    static let parts = """
        cohort_checks as materialized (
            select s.day, n.months, i.at
              from span s
             cross join generate_series(\(Cohort.months.lowerBound), \(Cohort.months.upperBound)) n (months)
             cross join lateral (
                select \(DayStart.sql("(s.day + make_interval(months => n.months))::date + 1", in: "s.zone")) as at) i
             where i.at <= \(RecurringPeriods.turned)
        ), cohorts as materialized (
            select day, customer, environment, bundle_id, group_id, order_id, item, place
              from turned where is_paying and not has_paid and day in (select day from cohort_checks)
        ), retained as materialized (
            select distinct c.day, k.months, c.environment, c.bundle_id, c.order_id, c.item, c.place
              from cohorts c
              join families f
                on (f.day, f.customer, f.environment, f.bundle_id) = (c.day, c.customer, c.environment, c.bundle_id)
             cross join lateral (\(RecurringPeriods.sql { order, _, _ in "\(order) = f.id" })) p
              join cohort_checks k on k.day = c.day and p.starts_at < k.at and p.ends_at >= k.at
             where p.monthly is not null and p.group_id = c.group_id
        )
        """

    /// A query, behind ``parts``: `day`, `environment`, `bundle_id`, `months`, `due`, `retained`. Days without a past check have no row.
    static let counts = """
        select s.day, s.environment, s.bundle_id, c.months::smallint as months, s.due, coalesce(k.retained, 0) as retained
          from (select day, environment, bundle_id, count(*) as due from cohorts group by day, environment, bundle_id) s
          join cohort_checks c on c.day = s.day
          left join (
            select day, environment, bundle_id, months, count(*) as retained from retained group by day, environment, bundle_id, months) k
            on (k.day, k.environment, k.bundle_id, k.months) = (s.day, s.environment, s.bundle_id, c.months)
        """

    /// A condition: whether the customer of a row of ``FigureMeasure/customerNew`` pays so many months later.
    static func isRetained(_ row: String, after months: Int) -> String {
        """
        exists (select from retained k where k.months = \(months)
                   and (k.day, k.order_id, k.item, k.place) = (\(row).day, \(row).order_id, \(row).item, \(row).place))
        """
    }

    /// A query: as `day`, the days of the zone `z.zone` with values that may change from `z.first` to `z.last` by the passing of time alone: a number
    /// of months before a day that ended.
    static let turning = """
        select distinct c.day
          from z
         cross join lateral generate_series(
            (z.first at time zone z.zone)::date::timestamp, (z.last at time zone z.zone)::date::timestamp - interval '1 day',
            interval '1 day') e (ended)
         cross join generate_series(\(Cohort.months.lowerBound), \(Cohort.months.upperBound)) n (months)
         -- The last day of a month stands for several days of an earlier one.
         cross join generate_series(0, 3) k (further)
         cross join lateral (select (e.ended - make_interval(months => n.months))::date + k.further as day) c
         where c.day + make_interval(months => n.months) = e.ended
           and exists (select from storehook.figure_cells f where f.zone = z.zone and f.day = c.day and f.measure = 'customer_new')
        """
}

extension PostgresQuery.StringInterpolation {
    /// A query: `zone`, `day`, and the instants `starts` and `ends` of each of some days.
    mutating func appendInterpolation(eachOf days: [CalendarDay], in zone: String) {
        appendLiteral(
            """
            select z.zone, d.day::date as day, \(DayStart.sql("d.day::date", in: "z.zone")) as starts,
                   \(DayStart.sql("d.day::date + 1", in: "z.zone")) as ends
              from unnest(
            """)
        appendInterpolation(days.map(\.description))
        appendLiteral(") d (day) cross join (select ")
        appendInterpolation(zone)
        appendLiteral("::text as zone) z")
    }
}
