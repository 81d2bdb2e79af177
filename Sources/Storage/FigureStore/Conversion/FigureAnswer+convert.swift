import Base
import Figures
import Postgres

extension FigureAnswer {
    /// Reads the values in a currency from the cells, by the current rates. This reads and converts every cell of the question.
    mutating func convert(to currency: String, in zone: String, _ session: borrowing PostgresSession) throws {
        try take(
            SummedColumns(
                "figures.converted", .converted(question, zone, currency), session, deadline: .seconds(60)),
            of: question.figure.measures)
    }
}

extension PostgresQuery {
    /// The converted sums of cells, for ``columns(_:of:)``. Equal cells are converted once.
    fileprivate static func converted(
        _ question: FigureQuestion, _ zone: String, _ currency: String
    ) -> PostgresQuery {
        """
        with \(unescaped: question.planPart)cells as materialized (
            select \(currency)::text as target, \(unescaped: question.period(ofDay: "c.day")) as period, \(unescaped: question.part(of: "c")) as part,
                   c.measure, c.currency, c.rate_day, c.unit, sum(c.count)::bigint as count
              from storehook.figure_cells c \(unescaped: question.joinPlans(of: "c"))
             where c.zone = \(zone) and c.environment = \(question.environment)
               and c.day between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
               and c.measure = any (\(question.figure.measures.map(\.rawValue)))
               and (\(question.apps == nil) or c.bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
             group by 2, 3, c.measure, c.currency, c.rate_day, c.unit
        ), \(unescaped: ConvertedCells.parts)
        select period, part, \(unescaped: ConvertedCells.lostCurrency) as currency,
               array_position(\(question.figure.measures.map(\.rawValue)), measure)::bigint as place, \(unescaped: ConvertedCells.sums)
          from converted group by period, part, 3, measure, coalesce(is_lost, false)
         limit \(FigureQuestion.mostRows)
        """
    }
}
