import Base

/// Cells in another currency, in SQL.
enum ConvertedCells {
    /// The number of days after its own on which a rate counts: this covers week-ends and holidays.
    static let oldest = 7

    /// An expression: an amount times `target`, divided by `source`, and rounded once, half to even. This converts an amount, or takes a share.
    /// - Parameters:
    ///   - amount: an expression of thousandths of a currency.
    ///   - source: an expression of a whole number above 0: one euro in the amount's currency, in billionths.
    ///   - target: an expression of a whole number above 0: one euro in the other currency, in billionths.
    static func amount(_ amount: String, _ source: String, _ target: String) -> String {
        // Usual amounts fit 64 bits: that takes half as long.
        let most = "4000000000000000000 / \(target)"
        return """
            sign(\(amount)::numeric) * case when \(amount) between -(\(most)) and \(most)
                 then \(halfEven(amount, source, target) { "(\($0) / \($1))" })
                 else \(halfEven("\(amount)::numeric", source, target) { "div(\($0), \($1))" }) end
            """
    }

    /// An expression: the magnitude of an amount in another currency, rounded.
    /// - Parameter quotient: an expression of the rounded-down quotient.
    private static func halfEven(
        _ amount: String, _ source: String, _ target: String, _ quotient: (String, String) -> String
    ) -> String {
        let (whole, part) = ("(2 * abs(\(amount)) * \(target) + \(source))", "(2 * \(source))")
        let halfUp = quotient(whole, part)
        return "\(halfUp) - case when mod(\(whole), \(part)) = 0 and mod(\(halfUp), 2) = 1 then 1 else 0 end"
    }

    /// A query: the rates of a currency that count on a day. The euro has one for every day.
    private static func rates(of currency: String, on day: String) -> String {
        """
        select e.day, e.billionths, e.corrected_at from storehook.exchange_rates e
         where e.currency = \(currency) and e.day between \(day) - \(oldest) and \(day)
        union all
        select \(day) - n, 1000000000, null from generate_series(0, \(oldest)) n where \(currency) = '\(CurrencyCode.euro)'
        """
    }

    /// A query: `source` and `target`, one euro in two currencies, and `corrected_at`. The rates are of the last day with both, on a day or up to
    /// ``oldest`` days before it. No row where there is no such day.
    /// - Parameters:
    ///   - currency: an expression of the amount's currency.
    ///   - target: an expression of the currency of the conversion.
    ///   - day: an expression of the day.
    static func rate(of currency: String, to target: String, on day: String) -> String {
        """
        select s.billionths as source, t.billionths as target, greatest(s.corrected_at, t.corrected_at) as corrected_at
          from (\(rates(of: currency, on: day))) s
          join (\(rates(of: target, on: day))) t using (day)
         order by s.day desc limit 1
        """
    }

    /// An expression: the converted amount; null without a rate. An amount of 0 needs none.
    /// - Parameters:
    ///   - unit: an expression of the amount; null where it is not known.
    ///   - rate: the alias of the row of ``rate(of:to:on:)``, or of nulls.
    static func converted(_ unit: String, _ currency: String, to target: String, by rate: String) -> String {
        """
        case when \(currency) = \(target) or \(unit) = 0 then \(unit)::numeric
             else \(amount(unit, "\(rate).source", "\(rate).target")) end
        """
    }

    /// Parts of a WITH: `converted`, the rows of `cells`, each with `amount`, `is_lost` and `corrected_at`. Cells have `currency`, `rate_day`,
    /// `unit`, `count`, and `target`, the currency of the conversion. A row is lost where no rate is known, but not where its amount is not known.
    /// Each rate is looked up once.
    static let parts = """
        rated as materialized (
            select p.target as wanted, p.currency, p.rate_day, r.*
              from (select distinct target, currency, rate_day from cells where unit <> 0 and currency <> target) p
             cross join lateral (\(rate(of: "p.currency", to: "p.target", on: "p.rate_day"))) r
        ), converted as (
            select c.*, c.unit <> 0 and c.currency <> c.target and r.source is null as is_lost,
                   \(converted("c.unit", "c.currency", to: "c.target", by: "r")) as amount,
                   case when c.unit <> 0 then r.corrected_at end as corrected_at
              from cells c left join rated r on (r.wanted, r.currency, r.rate_day) = (c.target, c.currency, c.rate_day)
        )
        """

    /// The values of a group of `converted`: `is_missing`, `count`, `free`, `unknown`, `amount` and `corrected_at`.
    static let sums = """
        coalesce(is_lost, false) as is_missing, sum(count)::bigint as count,
        coalesce(sum(count) filter (where unit = 0), 0)::bigint as free,
        coalesce(sum(count) filter (where unit is null), 0)::bigint as unknown,
        coalesce(sum(case when is_lost then unit::numeric else amount end * count), 0) as amount,
        max(corrected_at) filter (where count > 0) as corrected_at
        """

    /// An expression: the currency of a group of `converted`: the transactions' own of a lost group, and else empty.
    static let lostCurrency = "case when is_lost then currency else '' end"
}
