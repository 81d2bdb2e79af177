import Base

/// What cells are in another currency, in SQL.
enum ConvertedCells {
    /// For how many days a rate counts after its own: over week-ends and holidays, and no longer.
    static let oldest = 7

    /// An expression: an amount times `target` divided by `source`, rounded half to even once: in another currency, or a share of it.
    /// - Parameters:
    ///   - amount: an expression of thousandths of a currency.
    ///   - source: an expression of a whole number above 0: what one euro is of that currency, in billionths.
    ///   - target: likewise: what it is of the other one.
    static func amount(_ amount: String, _ source: String, _ target: String) -> String {
        // Amounts of shops fit 64 bits, which takes half as long.
        let most = "4000000000000000000 / \(target)"
        return """
            sign(\(amount)::numeric) * case when \(amount) between -(\(most)) and \(most)
                 then \(halfEven(amount, source, target) { "(\($0) / \($1))" })
                 else \(halfEven("\(amount)::numeric", source, target) { "div(\($0), \($1))" }) end
            """
    }

    /// An expression: the magnitude of an amount in another currency, rounded.
    /// - Parameter quotient: an expression of how often a number goes into another one.
    private static func halfEven(
        _ amount: String, _ source: String, _ target: String, _ quotient: (String, String) -> String
    ) -> String {
        let (whole, part) = ("(2 * abs(\(amount)) * \(target) + \(source))", "(2 * \(source))")
        let halfUp = quotient(whole, part)
        return "\(halfUp) - case when mod(\(whole), \(part)) = 0 and mod(\(halfUp), 2) = 1 then 1 else 0 end"
    }

    /// A query: the rates of a currency that count on a day. The euro has one every day.
    private static func rates(of currency: String, on day: String) -> String {
        """
        select e.day, e.billionths, e.corrected_at from storehook.exchange_rates e
         where e.currency = \(currency) and e.day between \(day) - \(oldest) and \(day)
        union all
        select \(day) - n, 1000000000, null from generate_series(0, \(oldest)) n where \(currency) = '\(CurrencyCode.euro)'
        """
    }

    /// A query: `source` and `target`, what one euro was of two currencies on the last day, on a day or shortly before, on which both have a
    /// rate; and `corrected_at`. No row where there is no such day.
    /// - Parameters:
    ///   - currency: an expression of the currency of an amount.
    ///   - target: an expression of the currency to which it is converted.
    ///   - day: an expression of the day.
    static func rate(of currency: String, to target: String, on day: String) -> String {
        """
        select s.billionths as source, t.billionths as target, greatest(s.corrected_at, t.corrected_at) as corrected_at
          from (\(rates(of: currency, on: day))) s
          join (\(rates(of: target, on: day))) t using (day)
         order by s.day desc limit 1
        """
    }

    /// An expression: an amount converted; null where there is no rate. An amount of 0 needs none.
    /// - Parameters:
    ///   - unit: an expression of the amount; null where it is not known.
    ///   - rate: the name of a row of ``rate(of:to:on:)``, which may be missing.
    static func converted(_ unit: String, _ currency: String, to target: String, by rate: String) -> String {
        """
        case when \(currency) = \(target) or \(unit) = 0 then \(unit)::numeric
             else \(amount(unit, "\(rate).source", "\(rate).target")) end
        """
    }

    /// Queries of a WITH: the rows of `cells` as `converted`, each with `amount`, whether it `is_missing`, and `corrected_at`. Where the amount
    /// is not known, nothing is missing.
    /// - Parameter target: an expression of the currency.
    static func converted(to target: String) -> String {
        """
        rated as materialized (
            select p.currency, p.rate_day, r.*
              from (select distinct currency, rate_day from cells where unit <> 0 and currency <> \(target)) p
             cross join lateral (\(rate(of: "p.currency", to: target, on: "p.rate_day"))) r
        ), converted as (
            select c.*, c.unit <> 0 and c.currency <> \(target) and r.source is null as is_lost,
                   \(converted("c.unit", "c.currency", to: target, by: "r")) as amount,
                   case when c.unit <> 0 then r.corrected_at end as corrected_at
              from cells c left join rated r on (r.currency, r.rate_day) = (c.currency, c.rate_day)
        )
        """
    }

    /// The values of a group of `converted`: `is_missing`, `count`, `free`, `unknown` and `amount`.
    static let sums = """
        coalesce(is_lost, false) as is_missing, sum(count)::bigint as count,
        coalesce(sum(count) filter (where unit = 0), 0)::bigint as free,
        coalesce(sum(count) filter (where unit is null), 0)::bigint as unknown,
        coalesce(sum(case when is_lost then unit::numeric else amount end * count), 0) as amount
        """

    /// A query: the converted sums of some days by the cells, as the table `converted_sums` has those of days. It stands behind ``converted(to:)``.
    static let derived = """
        select 'day' as grain, day as period, measure, environment, bundle_id, '' as product_id, '' as storefront, currency, \(sums)
          from converted group by day, measure, environment, bundle_id, currency, coalesce(is_lost, false)
        union all
        select 'day_part', day, measure, environment, bundle_id, product_id, storefront, case when is_lost then currency else '' end, \(sums)
          from converted
         group by day, measure, environment, bundle_id, product_id, storefront, case when is_lost then currency else '' end,
                  coalesce(is_lost, false)
        """

    /// A query: the months of rows that have the columns of days, in a query named `days_of`.
    static let months = """
        select case grain when 'day' then 'plain_month' else 'month_product' end as grain, date_trunc('month', period)::date as period, measure,
               environment, bundle_id, product_id, '' as storefront, currency, is_missing, count, free, unknown, amount
          from days_of
        union all
        select 'month_country', date_trunc('month', period)::date, measure, environment, bundle_id, '', storefront, currency, is_missing, count,
               free, unknown, amount
          from days_of where grain = 'day_part'
        """
}
