import Base
import Figures
import Postgres

extension FigureStore {
    /// Answers a question from the sums that stand.
    /// - Throws: ``TooManyCells``; ``FiscalRefusal``; `PostgresError`.
    package func answer(_ question: FigureQuestion) async throws -> FigureAnswer {
        // Each has how final it is, also where it has no value.
        guard question.periodCount <= FigureQuestion.mostCells else { throw TooManyCells() }
        // One snapshot: marks and sums are of the same moment.
        let options = TransactionOptions(
            isolation: .repeatableRead, isReadOnly: true, goesByIndexes: true, name: "figures.answer")
        return try await pool.withTransaction(options) { session in
            var answer = FigureAnswer(question: question)
            let state = try FigureState.read(session)
            if let zone = question.zone, !state.zones.contains(zone) { throw FiscalRefusal.notKept }
            guard let zone = question.zone ?? state.zone ?? state.nextZone else { return answer }
            answer.zone = zone
            if question.figure == .lifetimeValue {
                try answer.value(by: state, in: zone, session)
            } else {
                try answer.read(by: state, in: zone, session)
            }
            if question.figure.isStanding { try answer.carry(by: state, in: zone, session) }
            if question.figure == .proceeds {
                answer.isTaxIncluded = try session.query(.isTaxIncluded(question, in: zone)).one().decode(0)
            }
            if question.figure == .retention { try answer.follow(in: zone, session) }
            try answer.gatherPlans(session)
            let periods = question.periods
            let isKept =
                question.figure != .lifetimeValue && question.currency.map { state.keeps($0, in: zone) } ?? false
            let standings = PostgresQuery.standings(
                periods, zone, question, from: state.firstDay(in: zone), isKept: isKept)
            for row in try session.query(standings) {
                guard let day = CalendarDay(try row.decode("day", as: String.self)) else { continue }
                answer.standings[day] = FigureAnswer.Standing(
                    isRunning: try row.decode("is_running"), isPending: try row.decode("is_pending"),
                    isProven: try row.decode("is_proven"))
            }
            return answer
        }
    }
}

extension FigureAnswer {
    /// Answers by the sums or the cells.
    mutating func read(by state: FigureState, in zone: String, _ session: borrowing PostgresSession) throws {
        if let currency = question.currency {
            try convert(to: currency, by: state, in: zone, session)
        } else {
            let limit = FigureQuestion.mostRows
            cells = try Self.cells(
                session.query(question.grain == nil ? .cells(question, zone, limit) : .sums(question, zone, limit)),
                of: question)
        }
    }

    /// Reads `period`, `part`, `currency`, `measure` and sums, in that order.
    /// - Throws: ``TooManyCells``; `PostgresError`.
    static func cells(_ rows: PostgresRows, of question: FigureQuestion) throws -> [Cell] {
        var cells: [Cell] = []
        let (isSplit, isMoney) = (question.split != nil, question.figure.isMoney)
        for row in rows {
            guard let period = CalendarDay(try row.decode("period", as: String.self)),
                let measure = FigureMeasure(rawValue: try row.decode("measure"))
            else { continue }
            let (group, currency): (String, String) = (try row.decode("part"), try row.decode("currency"))
            var cell = Cell(
                period: period, group: isSplit ? group : nil, currency: isMoney ? currency : nil, sums: FigureSums())
            if let last = cells.last,
                (last.period, last.group, last.currency) == (cell.period, cell.group, cell.currency)
            {
                cell = cells.removeLast()
            }
            cell.sums[measure] = try FigureSum(row)
            cells.append(cell)
        }
        guard cells.count <= FigureQuestion.mostCells else { throw TooManyCells() }
        return cells
    }
}

extension PostgresQuery {
    /// The zone of the figures that stand, or of the first ones that are being summed.
    static let zone = PostgresQuery("figures.zone", "select coalesce(zone, next_zone) from storehook.figure_state")

    fileprivate static func sums(_ question: FigureQuestion, _ zone: String, _ limit: Int64) -> PostgresQuery {
        PostgresQuery(
            "figures.sums",
            """
            select (\(unescaped: question.period(ofSum: "period")))::text as period, \(unescaped: question.split?.column ?? "''") as part,
                   \(unescaped: question.figure.isMoney ? "currency" : "''") as currency, measure, sum(count)::bigint as count,
                   sum(free)::bigint as free, sum(unknown)::bigint as unknown, sum(amount)::text as amount
              from storehook.figure_sums
             where grain = \(question.grain ?? "") and zone = \(zone) and environment = \(question.environment)
               and period between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
               and measure = any (\(question.figure.measures.map(\.rawValue)))
               and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
             group by 1, 2, 3, 4
            having sum(count) <> 0
             order by 1, 2, 3, 4
             limit \(limit)
            """)
    }

    fileprivate static func cells(_ question: FigureQuestion, _ zone: String, _ limit: Int64) -> PostgresQuery {
        PostgresQuery(
            "figures.cells",
            """
            select (\(unescaped: question.period(ofDay: "day")))::text as period, \(unescaped: question.split?.column ?? "''") as part,
                   \(unescaped: question.figure.isMoney ? "currency" : "''") as currency, measure, sum(count)::bigint as count,
                   coalesce(sum(count) filter (where unit = 0), 0)::bigint as free,
                   coalesce(sum(count) filter (where unit is null), 0)::bigint as unknown,
                   coalesce(sum(unit::numeric * count), 0)::text as amount
              from storehook.figure_cells
             where zone = \(zone) and environment = \(question.environment)
               and day between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
               and measure = any (\(question.figure.measures.map(\.rawValue)))
               and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
             group by 1, 2, 3, 4
             order by 1, 2, 3, 4
             limit \(limit)
            """)
    }

    /// How final each period is.
    /// - Parameters:
    ///   - from: the first day that is summed in the zone; nil where all are.
    ///   - isKept: whether what was not converted yet matters.
    static func standings(
        _ periods: [ClosedRange<CalendarDay>], _ zone: String, _ question: FigureQuestion, from: CalendarDay? = nil,
        isKept: Bool
    ) -> PostgresQuery {
        PostgresQuery(
            "figures.standings",
            """
            with z as materialized (select \(zone)::text as zone), periods as (
                select first::date as first, last::date as last, \(unescaped: DayStart.sql("last::date + 1", in: "z.zone")) as ends
                  from unnest(\(periods.map(\.lowerBound.description)), \(periods.map(\.upperBound.description))) p (first, last)
                 cross join z
            ), marked as materialized (
                \(unescaped: DayStart.marked(in: "(select zone from z)"))
                union all
                select day from storehook.conversion_marks where \(isKept)
            ), proven as materialized (
                select min(proven_until) as until, coalesce(bool_and(proven_until is not null), false) as is_any
                  from storehook.proven_until
                 where environment = \(question.environment)
                   and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
            )
            select p.first::text as day, p.ends > now() as is_running,
                   exists (select from marked where marked.day between case when \(question.figure.isStanding) then '-infinity' else p.first end
                              -- What customers pay today is in no value before the day has ended.
                              and case when \(question.figure == .lifetimeValue)
                                       then greatest(p.last, (now() at time zone (select zone from z))::date - 1) else p.last end)
                   or coalesce(case when \(question.figure.isStanding) then '-infinity' else p.first end < \(from?.description)::text::date, false)
                      as is_pending,
                   coalesce(proven.is_any and proven.until >= p.ends, false) as is_proven
              from periods p cross join proven
            """)
    }
}
