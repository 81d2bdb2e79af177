import Base
import Figures
import Postgres

extension FigureAnswer {
    /// Reads the customers of each period and what they paid, in each currency by itself or converted.
    mutating func value(by state: FigureState, in zone: String, _ session: borrowing PostgresSession) throws {
        var customers = FigureAnswer(question: question)
        // Customers have none.
        (customers.question.currency, customers.question.onlyCurrency) = (nil, nil)
        try customers.read(by: state, in: zone, session)
        try customers.follow(in: zone, session)
        var places: [CalendarDay: [String: FigureSums]] = [:]
        for cell in customers.cells { places[cell.period, default: [:]][cell.group ?? ""] = cell.sums }
        let summed: SummedColumns
        switch question.currency {
        case nil: summed = try SummedColumns("figures.values", .values(question, zone), session)
        case let currency? where state.keeps(currency, in: zone):
            summed = try SummedColumns("figures.kept_values", .keptValues(question, zone, in: currency), session)
        case let currency?:
            summed = try SummedColumns(
                "figures.converted_values", .values(question, zone, in: currency), session, deadline: .seconds(60))
        }
        try take(
            summed, from: { places[$0.period]?[$0.part] },
            adding: { sums, months, sum in sums[paidAfter: months] = sums[paidAfter: months] + sum })
    }
}

extension PostgresQuery {
    /// What customers paid, for ``columns(_:of:)``; the place is the number of months. Calendar months have sums of their own. Fiscal months are
    /// added up from days, since their calendar may be replaced.
    fileprivate static func values(_ question: FigureQuestion, _ zone: String) -> PostgresQuery {
        if question.step == .month, question.split == .app, !question.isWhole {
            // Each is a row: to group 40,000 of them again takes six times as long as to read them.
            return """
                select \(unescaped: question.period(ofSum: "cohort")) as period, bundle_id as part, currency, false as is_missing,
                       months::bigint as place, count, 0::bigint as free, unknown, amount, null::timestamptz as corrected_at
                  from storehook.value_sums
                 where zone = \(zone) and environment = \(question.environment) and count <> 0
                   and cohort between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
                   and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
                """
        }
        let (table, sums) =
            question.step == .month
            ? ("value_sums", "sum(count)::bigint as count, sum(unknown)::bigint as unknown, sum(amount) as amount")
            : (
                "value_cells",
                """
                sum(count)::bigint as count, coalesce(sum(count) filter (where unit is null), 0)::bigint as unknown,
                coalesce(sum(unit::numeric * count), 0) as amount
                """
            )
        return """
            select period, part, currency, false as is_missing, months::bigint as place, count, 0::bigint as free, unknown, amount,
                   null::timestamptz as corrected_at
              from (
                select \(unescaped: question.period(ofSum: "cohort")) as period, \(unescaped: question.split?.column ?? "''") as part, currency, months, \(unescaped: sums)
                  from storehook.\(unescaped: table)
                 where zone = \(zone) and environment = \(question.environment)
                   and cohort between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
                   and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
                 group by 1, 2, 3, 4) v
             where count <> 0
            """
    }

    /// What customers paid, from kept sums in a currency: by the month of the first payment, or by its day for other periods. Columns as in
    /// ``values(_:_:)``. Of several apps, and of the days of a fiscal month, they are added up as they are read.
    fileprivate static func keptValues(
        _ question: FigureQuestion, _ zone: String, in currency: String
    ) -> PostgresQuery {
        """
        select \(unescaped: question.period(ofSum: "v.cohort")) as period, \(unescaped: question.split.map { "v.\($0.column)" } ?? "''") as part, v.currency, v.is_missing,
               v.months::bigint as place, v.count, 0::bigint as free, v.unknown, v.amount, v.corrected_at
          from storehook.currency_values v
         where v.target = \(currency) and v.zone = \(zone) and v.grain = \(question.grainOfValues) and v.environment = \(question.environment)
           and v.day between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
           and (\(question.apps == nil) or v.bundle_id = any (\(question.apps.map { $0.sorted() } ?? []))) and v.count <> 0
        """
    }

    /// What customers paid in a currency, from the cells, by the current rates. Columns as in ``values(_:_:)``.
    fileprivate static func values(
        _ question: FigureQuestion, _ zone: String, in currency: String
    ) -> PostgresQuery {
        """
        with cells as materialized (
            select \(currency)::text as target, \(unescaped: question.period(ofDay: "v.cohort")) as period,
                   \(unescaped: question.split.map { "v.\($0.column)" } ?? "''") as part, v.months, v.currency, v.rate_day, v.unit,
                   sum(v.count)::bigint as count
              from storehook.value_cells v
             where v.zone = \(zone) and v.environment = \(question.environment)
               and v.cohort between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
               and (\(question.apps == nil) or v.bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
             group by 2, 3, v.months, v.currency, v.rate_day, v.unit
        ), \(unescaped: ConvertedCells.parts)
        select period, part, \(unescaped: ConvertedCells.lostCurrency) as currency, months::bigint as place, \(unescaped: ConvertedCells.sums)
          from converted group by period, part, 3, months, coalesce(is_lost, false)
        """
    }
}

extension FigureQuestion {
    /// The grain with the fewest values in a currency for the question.
    fileprivate var grainOfValues: String {
        if step == .month { "cohort" } else if apps == nil && split == nil { "all_cohort_day" } else { "cohort_day" }
    }
}
