import Base
import Figures
import Postgres

/// Kept sums in a currency, in SQL.
enum CurrencySums {
    /// Parts of a WITH, behind ``ConvertedCells/parts`` with cells of figures: `summed`, the sums of each grain.
    ///
    /// Sums of few rows are added up from those of more: these are far fewer than the cells.
    static let parts = """
        parts as materialized (
            select target, date_trunc('month', day::timestamp)::date as month, measure, environment, bundle_id, product_id, storefront, currency,
                   \(ConvertedCells.sums)
              from converted
             group by 1, 2, measure, environment, bundle_id, product_id, storefront, currency, coalesce(is_lost, false)
        ), summed as materialized (
            select target, 'app_day' as grain, day as period, measure, environment, bundle_id, '' as product_id, '' as storefront,
                   \(ConvertedCells.lostCurrency) as currency, \(ConvertedCells.sums)
              from converted
             group by target, day, measure, environment, bundle_id, 9, coalesce(is_lost, false)
            union all
            select p.target, g.grain, p.month, p.measure, p.environment, g.bundle_id, g.product_id, g.storefront, g.currency, p.is_missing,
                   sum(p.count)::bigint, sum(p.free)::bigint, sum(p.unknown)::bigint, sum(p.amount), max(p.corrected_at)
              from parts p
             cross join lateral (select case when p.is_missing then p.currency else '' end as currency) l
             cross join lateral (values ('plain_month', p.bundle_id, '', '', p.currency),
                                        ('month_product', p.bundle_id, p.product_id, '', l.currency),
                                        ('month_country', p.bundle_id, '', p.storefront, l.currency),
                                        ('all_country', '', '', p.storefront, l.currency))
                   g (grain, bundle_id, product_id, storefront, currency)
             group by p.target, g.grain, p.month, p.measure, p.environment, g.bundle_id, g.product_id, g.storefront, g.currency, p.is_missing
        )
        """

    /// The measures with money, as an SQL literal.
    static let measures = FigureMeasure.money.map { "'\($0.rawValue)'" }.joined(separator: ", ")

    /// The columns of its key.
    static let key = """
        target, zone, grain, period, environment, measure, bundle_id, product_id, storefront, currency, is_missing
        """

    /// The beginning of an INSERT of `summed`.
    /// - Parameter zone: an expression of the sums' zone.
    static func insertion(in zone: String) -> String {
        """
        insert into storehook.currency_sums as known
               (target, zone, grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing, count, free, unknown,
                amount, corrected_at)
        select target, \(zone), grain, period, measure, environment, bundle_id, product_id, storefront, currency, is_missing, count, free, unknown,
               amount, corrected_at
          from summed
         where (count, free, unknown, amount) <> (0, 0, 0, 0)
         order by target, grain, period, environment, measure, bundle_id, product_id, storefront, currency, is_missing
            on conflict (\(key)) do update
        """
    }
}

extension FigureQuestion {
    /// The grain with the fewest sums in a currency for the question; nil where only cells answer it.
    var currencyGrain: String? {
        switch (step, split) {
        case (.month, nil), (.month, .app), (.month, .currency): "plain_month"
        case (.month, .product), (.month, .plan): "month_product"
        case (.month, .country): apps == nil ? "all_country" : "month_country"
        case (_, nil), (_, .app): "app_day"
        default: nil
        }
    }
}

extension PostgresQuery {
    /// Converts the cells of a whole month anew, and deletes its earlier sums.
    static func convert(_ month: FigureMonth, in zone: String, to currency: String) -> PostgresQuery {
        let (first, last) = (month.days.lowerBound.description, month.days.upperBound.description)
        return PostgresQuery(
            "figures.convert",
            """
            with \(cellsOf: month, in: zone, to: currency), \(unescaped: ConvertedCells.parts), \(unescaped: CurrencySums.parts), gone as (
                delete from storehook.currency_sums s
                 where s.target = \(currency) and s.zone = \(zone)
                   and s.grain in ('app_day', 'plain_month', 'month_product', 'month_country', 'all_country')
                   and s.period between \(first)::text::date and \(last)::text::date
                   and not exists (
                       select from summed n
                        where (n.grain, n.period, n.environment, n.measure, n.bundle_id, n.product_id, n.storefront, n.currency, n.is_missing)
                              = (s.grain, s.period, s.environment, s.measure, s.bundle_id, s.product_id, s.storefront, s.currency, s.is_missing)
                          and (n.count, n.free, n.unknown, n.amount) <> (0, 0, 0, 0))
            )
            \(unescaped: CurrencySums.insertion(in: "(select zone from z)"))
               set count = excluded.count, free = excluded.free, unknown = excluded.unknown, amount = excluded.amount,
                   corrected_at = excluded.corrected_at
             where (known.count, known.free, known.unknown, known.amount, known.corrected_at)
                   is distinct from (excluded.count, excluded.free, excluded.unknown, excluded.amount, excluded.corrected_at)
            """)
    }

    /// The first days of the latest months with cells before a day.
    static func months(in zone: String, before day: CalendarDay, _ limit: Int64) -> PostgresQuery {
        PostgresQuery(
            "figures.months_to_convert",
            """
            with recursive months as (
                select date_trunc('month', max(c.day)::timestamp)::date as month
                  from storehook.figure_cells c where c.zone = \(zone) and c.day < \(day.description)::text::date
                union all
                select (select date_trunc('month', max(c.day)::timestamp)::date
                          from storehook.figure_cells c where c.zone = \(zone) and c.day < months.month)
                  from months where months.month is not null
            )
            select month::text from months where month is not null limit \(limit)
            """)
    }

    /// Takes the marks of the latest months with changed rates, and returns the first day of each.
    static func takeConversionMarks(_ limit: Int64) -> PostgresQuery {
        PostgresQuery(
            "figures.take_conversion_marks",
            """
            with months as materialized (
                select distinct date_trunc('month', day::timestamp)::date as month from storehook.conversion_marks order by 1 desc limit \(limit)
            ), gone as (
                delete from storehook.conversion_marks
                 where day >= (select min(month) from months) and date_trunc('month', day::timestamp)::date in (select month from months)
            )
            select month::text from months
            """
        ).keepingPlan()
    }
}

extension PostgresQuery.StringInterpolation {
    /// Parts of a WITH: `z` (`zone`), and the cells of a month for ``ConvertedCells/parts``.
    mutating func appendInterpolation(cellsOf month: FigureMonth, in zone: String, to currency: String) {
        appendLiteral("z as materialized (select ")
        appendInterpolation(zone)
        appendLiteral("::text as zone), cells as materialized (select ")
        appendInterpolation(currency)
        appendLiteral(
            """
            ::text as target, c.day, c.measure, c.environment, c.bundle_id, c.product_id, c.storefront, c.currency, c.rate_day, c.unit, c.count
              from z join storehook.figure_cells c on c.zone = z.zone
             where c.measure in (\(CurrencySums.measures)) and c.day between
            """)
        appendLiteral(" ")
        appendInterpolation(month.days.lowerBound.description)
        appendLiteral("::text::date and ")
        appendInterpolation(month.days.upperBound.description)
        appendLiteral("::text::date)")
    }
}
