import Base
import Postgres

extension FigureStore {
    /// The currencies and zones of which there are converted sums: each is looked for behind the one before it.
    static let conversionsHeld = """
        with recursive held as (
            (select target, zone from storehook.converted_sums order by target, zone limit 1)
            union all
            select n.target, n.zone from held
             cross join lateral (
                select s.target, s.zone from storehook.converted_sums s where (s.target, s.zone) > (held.target, held.zone)
                 order by s.target, s.zone limit 1) n
        )
        select target, zone from held
        """
}

extension PostgresQuery {
    /// Takes marks of days whose rates changed, the latest days first.
    static func takeConversionMarks(_ limit: Int64) -> PostgresQuery {
        PostgresQuery(
            "figures.take_conversion_marks",
            """
            delete from storehook.conversion_marks
             where day = any (array(select day from storehook.conversion_marks order by day desc limit \(limit)))
            returning day::text
            """
        ).keepingPlan()
    }

    /// The last days with cells before a day.
    static func days(in zone: String, before day: CalendarDay, _ limit: Int64) -> PostgresQuery {
        PostgresQuery(
            "figures.days_to_convert",
            """
            select day::text from storehook.figure_cells
             where zone = \(zone) and day < \(day.description)::text::date
             group by day order by figure_cells.day desc limit \(limit)
            """)
    }

    /// Converts the cells of whole days anew: what changed by that is added to the sums.
    static func convert(_ days: [CalendarDay], in zone: String, to currency: String) -> PostgresQuery {
        PostgresQuery(
            "figures.convert",
            """
            with z as materialized (select \(zone)::text as zone, \(currency)::text as target), days as materialized (
                select d.day::date as day from unnest(\(days.map(\.description))) d (day)
            ), cells as materialized (
                select c.* from z cross join days d join storehook.figure_cells c on c.zone = z.zone and c.day = d.day and c.measure <> 'order'
            ), \(unescaped: ConvertedCells.converted(to: "(select target from z)")),
            days_of as materialized (
                \(unescaped: ConvertedCells.derived)
                union all
                select s.grain, s.period, s.measure, s.environment, s.bundle_id, s.product_id, s.storefront, s.currency, s.is_missing,
                       -s.count, -s.free, -s.unknown, -s.amount
                  from z cross join days d cross join (values ('day'), ('day_part')) g (grain)
                  join storehook.converted_sums s on (s.target, s.zone, s.grain, s.period) = (z.target, z.zone, g.grain, d.day)
            ), change as (
                table days_of union all
                \(unescaped: ConvertedCells.months)
            ), gone as (
                delete from storehook.corrected_conversions c using z, days d where (c.target, c.zone, c.day) = (z.target, z.zone, d.day)
            ), noted as (
                insert into storehook.corrected_conversions (target, zone, day, measure, environment, bundle_id, corrected_at)
                select z.target, z.zone, c.day, c.measure, c.environment, c.bundle_id, max(c.corrected_at)
                  from z cross join converted c where c.corrected_at is not null
                 group by z.target, z.zone, c.day, c.measure, c.environment, c.bundle_id
            )
            insert into storehook.converted_sums as known
                   (target, zone, grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing, count, free,
                    unknown, amount)
            select z.target, z.zone, c.grain, c.period, c.measure, c.environment, c.bundle_id, c.product_id, c.storefront, c.currency,
                   c.is_missing, sum(c.count), sum(c.free), sum(c.unknown), sum(c.amount)
              from z cross join change c
             group by z.target, z.zone, c.grain, c.period, c.measure, c.environment, c.bundle_id, c.product_id, c.storefront, c.currency,
                      c.is_missing
            having (sum(c.count), sum(c.free), sum(c.unknown), sum(c.amount)) <> (0, 0, 0, 0)
             order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
                on conflict (target, zone, grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing)
                do update
               set count = known.count + excluded.count, free = known.free + excluded.free,
                   unknown = known.unknown + excluded.unknown, amount = known.amount + excluded.amount
            """)
    }

    /// Deletes sums of no rows, of some days and their months.
    static func dropEmpty(_ days: [CalendarDay], in zone: String, _ currency: String) -> PostgresQuery {
        PostgresQuery(
            "figures.drop_empty",
            """
            with periods as materialized (
                select 'day' as grain, day::date as period from unnest(\(days.map(\.description))) day
                union
                select 'day_part', day::date from unnest(\(days.map(\.description))) day
                union
                select m.grain, date_trunc('month', day::date)::date
                  from unnest(\(days.map(\.description))) day
                 cross join (values ('plain_month'), ('month_product'), ('month_country')) m (grain)
            )
            delete from storehook.converted_sums s using periods p
             where (s.target, s.zone, s.grain, s.period) = (\(currency), \(zone), p.grain, p.period)
               and (s.count, s.free, s.unknown, s.amount) = (0, 0, 0, 0)
            """)
    }

    /// Deletes what is left of a currency.
    static func dropConverted(to currency: String) -> PostgresQuery {
        PostgresQuery(
            "figures.drop_converted",
            """
            with corrected as (delete from storehook.corrected_conversions where target = \(currency))
            delete from storehook.converted_sums where target = \(currency)
            """)
    }

    /// Deletes some sums of currencies and zones whose figures stand no more; returns them.
    static func sweepConverted(_ zones: [String], _ currency: String?) -> PostgresQuery {
        PostgresQuery(
            "figures.sweep_converted",
            """
            with held as materialized (
                select target, zone from (\(unescaped: FigureStore.conversionsHeld)) held
                 where target is distinct from \(currency) or zone <> all (\(zones))
            ), corrected as (
                delete from storehook.corrected_conversions c using held where (c.target, c.zone) = (held.target, held.zone)
            ), sums as (
                delete from storehook.converted_sums where ctid = any (array(
                    select s.ctid from held join storehook.converted_sums s using (target, zone) limit 20000))
                returning target, zone
            )
            select distinct target, zone from sums
            """)
    }
}
