import Base
import Figures
import Postgres

extension FigureAnswer {
    /// Adds to the customers of each period how many of them are due and retained.
    mutating func follow(in zone: String, _ session: borrowing PostgresSession) throws {
        let places = Dictionary(
            uniqueKeysWithValues: cells.indices.map { ([cells[$0].period.description, cells[$0].group ?? ""], $0) })
        for row in try session.query(.cohorts(question, zone)) {
            guard let place = places[[try row.decode("period"), try row.decode("part")]] else { continue }
            let months = try row.decode("months", as: [Int16].self)
            let (due, retained): ([Int64], [Int64]) = (try row.decode("due"), try row.decode("retained"))
            for (index, number) in months.enumerated() {
                cells[place].sums[months: Int(number)] = Cohort(due: due[index], retained: retained[index])
            }
        }
    }
}

extension PostgresQuery {
    fileprivate static func cohorts(_ question: FigureQuestion, _ zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.cohorts",
            """
            select period::text as period, part, array_agg(months) as months, array_agg(due) as due, array_agg(retained) as retained
              from (
                -- This adds up years of days: it works out no instant and no text for each.
                select \(unescaped: question.period(ofDay: "day")) as period,
                       \(unescaped: question.split?.column ?? "''") as part, months, sum(due)::bigint as due,
                       sum(retained)::bigint as retained
                  from storehook.cohort_cells
                 where zone = \(zone) and environment = \(question.environment)
                   and day between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
                   and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
                   and (\(question.until?.description)::text is null
                        or (day + make_interval(months => months::integer))::date <= \(question.until?.description)::text::date)
                 group by 1, 2, 3) c
             group by c.period, part
            """)
    }
}
