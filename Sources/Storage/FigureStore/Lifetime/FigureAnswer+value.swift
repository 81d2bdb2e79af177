import Base
import Figures
import Postgres

extension FigureAnswer {
    /// Takes the customers of each period, and adds what they paid, each currency by itself or converted.
    mutating func value(by state: FigureState, in zone: String, _ session: borrowing PostgresSession) throws {
        var customers = FigureAnswer(question: question)
        customers.question.currency = nil
        try customers.read(by: state, in: zone, session)
        try customers.follow(in: zone, session)
        let places = Dictionary(
            uniqueKeysWithValues: customers.cells.map { ([$0.period.description, $0.group ?? ""], $0) })
        let values: PostgresQuery = question.currency.map { .values(question, zone, in: $0) } ?? .values(question, zone)
        for row in try session.query(values, deadline: question.currency == nil ? nil : .seconds(60)) {
            guard var cell = places[[try row.decode("period"), try row.decode("part")]] else { continue }
            cell.isUnconverted = try row.decode("is_missing")
            let currency: String = try row.decode("currency")
            cell.currency = cell.isUnconverted ? currency : question.currency ?? currency
            if let last = cells.last,
                (last.period, last.group, last.currency, last.isUnconverted)
                    == (cell.period, cell.group, cell.currency, cell.isUnconverted)
            {
                cell = cells.removeLast()
            }
            cell.sums[paidAfter: Int(try row.decode("months", as: Int16.self))] = try FigureSum(row)
            cells.append(cell)
            if let corrected = try row.decode("corrected_at", as: PostgresTimestamp?.self) {
                ratesCorrectedAt = max(ratesCorrectedAt ?? .distantPast, Timestamp(corrected))
            }
        }
        guard cells.count <= FigureQuestion.mostCells else { throw TooManyCells() }
    }
}

extension PostgresQuery {
    /// `period`, `part`, `is_missing`, `currency`, `months`, the sum and `corrected_at`, in that order. Months of the calendar have sums of
    /// their own, and fiscal ones are days, whose calendar may be replaced.
    fileprivate static func values(_ question: FigureQuestion, _ zone: String) -> PostgresQuery {
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
        return PostgresQuery(
            "figures.values",
            """
            select period::text as period, part, false as is_missing, currency, months, count, 0::bigint as free, unknown, amount::text as amount,
                   null::timestamptz as corrected_at
              from (
                select \(unescaped: question.period(ofSum: "cohort")) as period, \(unescaped: question.split?.column ?? "''") as part, currency, months, \(unescaped: sums)
                  from storehook.\(unescaped: table)
                 where zone = \(zone) and environment = \(question.environment)
                   and cohort between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
                   and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
                 group by 1, 2, 3, 4) v
             where count <> 0
             order by v.period, part, currency, months
            """)
    }

    /// Likewise in one currency, by the rates of now.
    fileprivate static func values(
        _ question: FigureQuestion, _ zone: String, in currency: String
    ) -> PostgresQuery {
        PostgresQuery(
            "figures.converted_values",
            """
            with z as materialized (select \(currency)::text as target), cells as materialized (
                select \(unescaped: question.period(ofDay: "cohort")) as period,
                       \(unescaped: question.split?.column ?? "''") as part, months, currency, rate_day, unit, sum(count)::bigint as count
                  from storehook.value_cells
                 where zone = \(zone) and environment = \(question.environment)
                   and cohort between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
                   and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
                 group by 1, 2, months, currency, rate_day, unit
            ), \(unescaped: ConvertedCells.converted(to: "(select target from z)")), summed as (
                select period, part, case when is_lost then currency else '' end as currency, months, \(unescaped: ConvertedCells.sums),
                       max(corrected_at) as corrected_at
                  from converted group by 1, 2, 3, 4, coalesce(is_lost, false)
            )
            select period::text as period, part, is_missing, currency, months, count, free, unknown, amount::text as amount, corrected_at
              from summed
             order by summed.period, part, is_missing, currency, months
            """)
    }
}
