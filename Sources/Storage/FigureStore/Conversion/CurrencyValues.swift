import Base
import Postgres

/// Lifetime value in a currency, in SQL.
enum CurrencyValues {
    /// Parts of a WITH, behind `z` (`zone`, `target`) and `days` (`day`): `fresh`, the cells of these days in the currency.
    static let parts = """
        cells as materialized (
            select z.target, v.day, v.environment, date_trunc('month', v.cohort::timestamp)::date as cohort, v.bundle_id, v.months, v.currency,
                   v.rate_day, v.unit, sum(v.count)::bigint as count
              from z cross join days d join storehook.value_cells v on v.zone = z.zone and v.day = d.day
             group by z.target, v.day, v.environment, 4, v.bundle_id, v.months, v.currency, v.rate_day, v.unit
        ), \(ConvertedCells.parts), fresh as materialized (
            select target, day, environment, cohort, bundle_id, months, \(ConvertedCells.lostCurrency) as currency, \(ConvertedCells.sums)
              from converted
             group by target, day, environment, cohort, bundle_id, months, 7, coalesce(is_lost, false)
        )
        """

    /// A query: the sums of all days, added up from the days, with the columns of the table.
    static let ofAllDays = """
        select target, zone, 'cohort' as grain, cohort as day, environment, cohort, bundle_id, months, currency, is_missing,
               sum(count)::bigint as count, sum(unknown)::bigint as unknown, sum(amount) as amount, max(corrected_at) as corrected_at
          from storehook.currency_values
         where grain = 'day'
         group by target, zone, environment, cohort, bundle_id, months, currency, is_missing
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
                select s.* from z cross join days d
                  join storehook.currency_values s on (s.target, s.zone, s.grain, s.day) = (z.target, z.zone, 'day', d.day)
            ), gone as (
                delete from storehook.currency_values s using former f
                 where (s.target, s.zone, s.grain, s.day, s.environment, s.cohort, s.bundle_id, s.months, s.currency, s.is_missing)
                       = (f.target, f.zone, f.grain, f.day, f.environment, f.cohort, f.bundle_id, f.months, f.currency, f.is_missing)
                   and not exists (
                       select from fresh n
                        where (n.day, n.environment, n.cohort, n.bundle_id, n.months, n.currency, n.is_missing)
                              = (f.day, f.environment, f.cohort, f.bundle_id, f.months, f.currency, f.is_missing))
            ), of_days as (
                insert into storehook.currency_values as known
                       (target, zone, grain, day, environment, cohort, bundle_id, months, currency, is_missing, count, unknown, amount,
                        corrected_at)
                select f.target, z.zone, 'day', f.day, f.environment, f.cohort, f.bundle_id, f.months, f.currency, f.is_missing, f.count, f.unknown,
                       f.amount, f.corrected_at
                  from z cross join fresh f
                    on conflict (target, zone, grain, day, environment, cohort, bundle_id, months, currency, is_missing) do update
                   set count = excluded.count, unknown = excluded.unknown, amount = excluded.amount, corrected_at = excluded.corrected_at
                 where (known.count, known.unknown, known.amount, known.corrected_at)
                       is distinct from (excluded.count, excluded.unknown, excluded.amount, excluded.corrected_at)
            ), change as (
                select environment, cohort, bundle_id, months, currency, is_missing, count, unknown, amount, corrected_at from fresh
                union all
                select environment, cohort, bundle_id, months, currency, is_missing, -count, -unknown, -amount, null from former
            )
            insert into storehook.currency_values as known
                   (target, zone, grain, day, environment, cohort, bundle_id, months, currency, is_missing, count, unknown, amount, corrected_at)
            select z.target, z.zone, 'cohort', c.cohort, c.environment, c.cohort, c.bundle_id, c.months, c.currency, c.is_missing, sum(c.count),
                   sum(c.unknown), sum(c.amount), max(c.corrected_at)
              from z cross join change c
             group by z.target, z.zone, c.environment, c.cohort, c.bundle_id, c.months, c.currency, c.is_missing
            having (sum(c.count), sum(c.unknown), sum(c.amount)) <> (0, 0, 0)
             order by c.environment, c.cohort, c.bundle_id, c.months, c.currency, c.is_missing
                on conflict (target, zone, grain, day, environment, cohort, bundle_id, months, currency, is_missing) do update
               set count = known.count + excluded.count, unknown = known.unknown + excluded.unknown,
                   amount = known.amount + excluded.amount, corrected_at = greatest(known.corrected_at, excluded.corrected_at)
            """)
    }
}
