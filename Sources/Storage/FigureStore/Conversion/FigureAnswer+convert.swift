import Base
import Figures
import Postgres

extension FigureAnswer {
    /// Answers in one currency: from the sums that are kept in it, or from the cells.
    mutating func convert(
        to currency: String, by state: FigureState, in zone: String, _ session: borrowing PostgresSession
    ) throws {
        let isKept = state.keeps(currency, in: zone)
        let query: PostgresQuery = isKept ? .kept(question, zone, currency) : .converted(question, zone, currency)
        // All cells of three years are read and converted.
        for row in try session.query(query, deadline: isKept ? nil : .seconds(60)) {
            guard let period = CalendarDay(try row.decode("period", as: String.self)),
                let measure = FigureMeasure(rawValue: try row.decode("measure"))
            else { continue }
            let isMissing: Bool = try row.decode("is_missing")
            var cell = Cell(
                period: period, group: question.split == nil ? nil : try row.decode("part"),
                currency: isMissing ? try row.decode("currency") : currency, isUnconverted: isMissing,
                sums: FigureSums())
            if let last = cells.last,
                (last.period, last.group, last.currency, last.isUnconverted)
                    == (cell.period, cell.group, cell.currency, cell.isUnconverted)
            {
                cell = cells.removeLast()
            }
            cell.sums[measure] = try FigureSum(row)
            cells.append(cell)
            if let corrected = try row.decode("corrected_at", as: PostgresTimestamp?.self) {
                ratesCorrectedAt = max(ratesCorrectedAt ?? .distantPast, Timestamp(corrected))
            }
        }
        guard cells.count <= FigureQuestion.mostCells else { throw TooManyCells() }
        if isKept {
            ratesCorrectedAt = try session.query(.correctedAt(question, zone, currency)).one()
                .decode(0, as: PostgresTimestamp?.self).map { Timestamp($0) }
        }
    }
}

extension PostgresQuery {
    fileprivate static func kept(_ question: FigureQuestion, _ zone: String, _ currency: String) -> PostgresQuery {
        PostgresQuery(
            "figures.kept",
            """
            select (\(unescaped: question.period(ofSum: "period")))::text as period, \(unescaped: question.split?.column ?? "''") as part, is_missing,
                   case when is_missing then currency else '' end as currency, measure, sum(count)::bigint as count,
                   sum(free)::bigint as free, sum(unknown)::bigint as unknown, sum(amount)::text as amount,
                   null::timestamptz as corrected_at
              from storehook.converted_sums
             where target = \(currency) and zone = \(zone) and grain = \(question.convertedGrain)
               and environment = \(question.environment)
               and period between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
               and measure = any (\(question.figure.measures.map(\.rawValue)))
               and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
             group by 1, 2, 3, 4, 5
            having sum(count) <> 0
             order by 1, 2, 3, 4, 5
             limit \(FigureQuestion.mostRows)
            """)
    }

    /// From the cells, by the rates of now.
    fileprivate static func converted(
        _ question: FigureQuestion, _ zone: String, _ currency: String
    ) -> PostgresQuery {
        PostgresQuery(
            "figures.converted",
            """
            with z as materialized (select \(currency)::text as target), cells as not materialized (
                select day, measure, \(unescaped: question.split?.column ?? "''") as part, currency, rate_day, unit, count
                  from storehook.figure_cells
                 where zone = \(zone) and environment = \(question.environment)
                   and day between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
                   and measure = any (\(question.figure.measures.map(\.rawValue)))
                   and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
            ), \(unescaped: ConvertedCells.converted(to: "(select target from z)")), summed as (
                select \(unescaped: question.period(ofDay: "day")) as period, part, case when is_lost then currency else '' end as currency, measure,
                       \(unescaped: ConvertedCells.sums), max(corrected_at) as corrected_at
                  from converted group by 1, 2, 3, 4, coalesce(is_lost, false)
            )
            select period::text as period, part, is_missing, currency, measure, count, free, unknown, amount::text as amount, corrected_at
              from summed
             order by 1, 2, 3, 4, 5
             limit \(FigureQuestion.mostRows)
            """)
    }

    fileprivate static func correctedAt(
        _ question: FigureQuestion, _ zone: String, _ currency: String
    ) -> PostgresQuery {
        PostgresQuery(
            "figures.corrected_at",
            """
            select max(corrected_at) from storehook.corrected_conversions
             where target = \(currency) and zone = \(zone) and environment = \(question.environment)
               and day between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
               and measure = any (\(question.figure.measures.map(\.rawValue)))
               and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
            """)
    }
}
