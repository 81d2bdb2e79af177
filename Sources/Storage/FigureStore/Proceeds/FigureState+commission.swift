import Base
import Figures
import Postgres

extension FigureState {
    /// Takes the current commission table. If it changed, marks all days: workers sum these anew.
    func take(_ commission: Commission, _ session: borrowing PostgresSession) throws {
        guard try session.query(.differs(from: commission)).one().decode(0) else { return }
        try session.query("delete from storehook.figure_terms")
        try session.query(.write(commission))
        try markAllDays(session)
    }
}

/// An entry of a commission table, as a row.
private struct Term {
    var kind: String
    var place: Int16
    var from: CalendarDay
    /// The apps, separated by commas; nil for all.
    var apps: String?
    /// The storefronts, separated by commas; nil for all.
    var storefronts: String?
    var program: Commission.Program?
    var rate: Commission.Rate?
    var included: PriceShare?

    static func all(of commission: Commission) -> [Term] {
        commission.memberships.enumerated().map { place, entry in
            Term(
                kind: "program", place: Int16(clamping: place), from: entry.from,
                apps: entry.apps?.joined(separator: ","), program: entry.program)
        }
            + commission.rates.enumerated().map { place, entry in
                Term(
                    kind: "rate", place: Int16(clamping: place), from: entry.from,
                    storefronts: entry.storefronts?.joined(separator: ","), program: entry.program, rate: entry)
            }
            + commission.taxes.enumerated().map { place, entry in
                Term(
                    kind: "tax", place: Int16(clamping: place), from: entry.from,
                    storefronts: entry.storefronts.joined(separator: ","), included: entry.included)
            }
    }
}

extension PriceShare {
    fileprivate var column: Int32 { Int32(clamping: thousandthsOfPercent) }
}

extension PostgresQuery {
    /// Whether figures are summed by another table than this one.
    static func differs(from commission: Commission) -> PostgresQuery {
        PostgresQuery(
            "figures.terms_differ",
            """
            with given as materialized (\(rowsOf: commission))
            select exists (
                select from given g full join storehook.figure_terms f using (kind, place)
                 where (g.first_day, g.bundle_ids, g.storefronts, g.program, g.first_year, g.later_years, g.one_time, g.included)
                       is distinct from
                       (f.first_day, f.bundle_ids, f.storefronts, f.program, f.first_year, f.later_years, f.one_time, f.included))
            """
        ).keepingPlan()
    }

    fileprivate static func write(_ commission: Commission) -> PostgresQuery {
        PostgresQuery(
            "figures.take_terms",
            """
            insert into storehook.figure_terms
                   (kind, place, first_day, bundle_ids, storefronts, program, first_year, later_years, one_time, included)
            \(rowsOf: commission)
            """)
    }

    /// Whether tax is in some amounts of a question: a storefront with sales has no tax in the table on the first day of a month.
    static func isTaxIncluded(_ question: FigureQuestion, in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.is_tax_included",
            """
            select not exists (select from storehook.figure_terms where kind = 'tax')
                or exists (
                    select from (
                        select distinct period, storefront from storehook.figure_sums
                         where grain = 'month_country' and zone = \(zone) and environment = \(question.environment)
                           and period between date_trunc('month', \(question.days.lowerBound.description)::text::date)
                                          and \(question.days.upperBound.description)::text::date
                           and measure = \(FigureMeasure.proceeds.rawValue) and count <> 0
                           and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))) sold
                     where not exists (
                        select from storehook.figure_terms t
                         where t.kind = 'tax' and t.first_day <= sold.period and sold.storefront = any (t.storefronts)))
            """)
    }
}

extension PostgresQuery.StringInterpolation {
    /// A query: the entries of a commission table, with the columns of `figure_terms`.
    fileprivate mutating func appendInterpolation(rowsOf commission: Commission) {
        let terms = Term.all(of: commission)
        appendLiteral(
            """
            select kind, place, first_day::date as first_day, string_to_array(apps, ',') as bundle_ids,
                   string_to_array(storefronts, ',') as storefronts, program, first_year, later_years, one_time, included
              from unnest(
            """)
        appendInterpolation(terms.map(\.kind))
        appendLiteral(", ")
        appendInterpolation(terms.map(\.place))
        appendLiteral(", ")
        appendInterpolation(terms.map(\.from.description))
        appendLiteral(", ")
        appendInterpolation(terms.map(\.apps))
        appendLiteral(", ")
        appendInterpolation(terms.map(\.storefronts))
        appendLiteral(", ")
        appendInterpolation(terms.map { $0.program?.rawValue })
        appendLiteral(", ")
        appendInterpolation(terms.map { $0.rate?.firstYear.column })
        appendLiteral(", ")
        appendInterpolation(terms.map { $0.rate?.laterYears.column })
        appendLiteral(", ")
        appendInterpolation(terms.map { $0.rate?.oneTime.column })
        appendLiteral(", ")
        appendInterpolation(terms.map { $0.included?.column })
        appendLiteral(
            """
            ) t (kind, place, first_day, apps, storefronts, program, first_year, later_years, one_time, included)
            """)
    }
}
