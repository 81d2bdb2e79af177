import Base
import Postgres

/// Lifetime value in a currency, in SQL.
enum CurrencyValues {
    /// Parts of a WITH, behind `z` (`zone`, `target`) and `days` (`day`): `fresh`, the cells of these days in the currency, by the day of the
    /// first payment.
    static let parts = """
        cells as materialized (
            select z.target, v.day, v.environment, v.cohort, v.bundle_id, v.months, v.currency, v.rate_day, v.unit, sum(v.count)::bigint as count
              from z cross join days d join storehook.value_cells v on v.zone = z.zone and v.day = d.day
             group by z.target, v.day, v.environment, v.cohort, v.bundle_id, v.months, v.currency, v.rate_day, v.unit
        ), \(ConvertedCells.parts), fresh as materialized (
            select target, day, environment, cohort, bundle_id, months, \(ConvertedCells.lostCurrency) as currency, \(ConvertedCells.sums)
              from converted
             group by target, day, environment, cohort, bundle_id, months, 7, coalesce(is_lost, false)
        )
        """

    /// A query: the kept cells of `days`, behind `z`, with the columns of `fresh` but `free`.
    static let kept = """
        select k.target, k.day, s.*
          from z cross join days d join storehook.currency_value_days k on (k.target, k.zone, k.day) = (z.target, z.zone, d.day)
         cross join unnest(k.shares) s
        """

    /// What follows FROM, behind a row `c` with `cohort` and `bundle_id`: for each grain of sums `g`, its name `grain`, its `cohort` and its
    /// `bundle_id`. With the sums of all apps, an answer for years of days reads as many rows as it has values.
    static let grains = """
        cross join lateral (values ('cohort', date_trunc('month', c.cohort::timestamp)::date, c.bundle_id),
                                   ('cohort_day', c.cohort, c.bundle_id),
                                   ('all_cohort_day', c.cohort, '')) g (grain, cohort, bundle_id)
        """

    /// A query: the sums of all days, added up from the days, with the columns of the table.
    static let ofAllDays = """
        select k.target, k.zone, g.grain, g.cohort as day, c.environment, g.cohort, g.bundle_id, c.months, c.currency, c.is_missing,
               sum(c.count)::bigint as count, sum(c.unknown)::bigint as unknown, sum(c.amount) as amount, max(c.corrected_at) as corrected_at
          from storehook.currency_value_days k cross join unnest(k.shares) c \(grains)
         group by k.target, k.zone, g.grain, c.environment, g.cohort, g.bundle_id, c.months, c.currency, c.is_missing
        """
}

extension PostgresQuery {
    /// Converts what customers paid on whole days anew, and adds the change to the sums of all days.
    static func convertValues(_ days: [CalendarDay], in zone: String, to currency: String) -> PostgresQuery {
        PostgresQuery(
            "figures.convert_values",
            """
            with z as materialized (select \(zone)::text as zone, \(currency)::text as target), days as materialized (
                select d.day::date as day from unnest(\(days.map(\.description))) d (day)
            ), \(unescaped: CurrencyValues.parts), former as materialized (
                \(unescaped: CurrencyValues.kept)
            ), gone as (
                delete from storehook.currency_value_days k using z cross join days d
                 where (k.target, k.zone, k.day) = (z.target, z.zone, d.day) and not exists (select from fresh f where f.day = d.day)
            ), of_days as (
                insert into storehook.currency_value_days as known (target, zone, day, shares)
                select z.target, z.zone, f.day,
                       array_agg((f.environment, f.cohort, f.bundle_id, f.months, f.currency, f.is_missing, f.count, f.unknown, f.amount,
                                  f.corrected_at)::storehook.converted_share
                                 order by f.environment, f.cohort, f.bundle_id, f.months, f.currency, f.is_missing)
                  from z cross join fresh f
                 group by z.target, z.zone, f.day
                    on conflict (target, zone, day) do update set shares = excluded.shares where known.shares <> excluded.shares
            ), change as (
                select environment, cohort, bundle_id, months, currency, is_missing, count, unknown, amount, corrected_at from fresh
                union all
                select environment, cohort, bundle_id, months, currency, is_missing, -count, -unknown, -amount, null from former
            )
            insert into storehook.currency_values as known
                   (target, zone, grain, day, environment, cohort, bundle_id, months, currency, is_missing, count, unknown, amount, corrected_at)
            select z.target, z.zone, g.grain, g.cohort, c.environment, g.cohort, g.bundle_id, c.months, c.currency, c.is_missing, sum(c.count),
                   sum(c.unknown), sum(c.amount), max(c.corrected_at)
              from z cross join change c \(unescaped: CurrencyValues.grains)
             group by z.target, z.zone, g.grain, c.environment, g.cohort, g.bundle_id, c.months, c.currency, c.is_missing
            having (sum(c.count), sum(c.unknown), sum(c.amount)) <> (0, 0, 0)
             order by g.grain, c.environment, g.cohort, g.bundle_id, c.months, c.currency, c.is_missing
                on conflict (target, zone, grain, day, environment, cohort, bundle_id, months, currency, is_missing) do update
               set count = known.count + excluded.count, unknown = known.unknown + excluded.unknown,
                   amount = known.amount + excluded.amount, corrected_at = greatest(known.corrected_at, excluded.corrected_at)
            """)
    }
}
