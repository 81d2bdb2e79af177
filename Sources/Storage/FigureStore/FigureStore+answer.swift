import Base
import Figures
import Postgres

extension FigureStore {
    /// Answers a question from sums. In a currency without kept sums the answer is converted from the cells; if that takes long, this notes the
    /// currency, and workers keep its sums from then on.
    /// - Throws: ``TooManyCells``; ``FiscalRefusal``; `PostgresError`.
    package func answer(_ question: FigureQuestion) async throws -> FigureAnswer {
        // Each period states how final it is, also one without values.
        guard question.periodCount <= FigureQuestion.mostCells else { throw TooManyCells() }
        let start = ContinuousClock.now
        // One snapshot: its marks and sums are of the same moment.
        let options = TransactionOptions(
            isolation: .repeatableRead, isReadOnly: true, goesByIndexes: true, name: "figures.answer")
        let (answer, isNoted) = try await pool.withTransaction(options) { session -> (FigureAnswer, Bool) in
            var answer = FigureAnswer(question: question)
            let state = try FigureState.read(session)
            if let zone = question.zone, !state.zones.contains(zone) { throw FiscalRefusal.notKept }
            guard let zone = question.zone ?? state.zone ?? state.nextZone else { return (answer, true) }
            answer.zone = zone
            guard !question.isNothing else { return (answer, true) }
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
            try answer.judge(by: state, in: zone, session)
            guard let currency = question.currency, !state.isReporting(currency) else { return (answer, true) }
            return (answer, try session.query(.isNoted(currency)).one().decode(0))
        }
        if let currency = question.currency, !isNoted, ContinuousClock.now - start >= patience { await note(currency) }
        return answer
    }
}

extension FigureAnswer {
    /// Reads the values from sums, or from the cells.
    mutating func read(by state: FigureState, in zone: String, _ session: borrowing PostgresSession) throws {
        let isKept = question.currency.map { state.keeps($0, in: zone) } ?? true
        if isKept, let grain = question.sumGrain {
            try take(question.sums(grain, in: zone, session), of: question.figure.measures)
        } else if let currency = question.currency {
            try convert(to: currency, in: zone, session)
        } else {
            try take(
                SummedColumns("figures.cells", .grouped(.cells(question, zone)), session), of: question.figure.measures)
        }
    }

    /// Reads how final each period is.
    fileprivate mutating func judge(
        by state: FigureState, in zone: String, _ session: borrowing PostgresSession
    ) throws {
        let isKept = question.currency.map { state.keeps($0, in: zone) } ?? false
        let standings = PostgresQuery.standings(
            question.periods, zone, question, from: state.firstDay(in: zone), isKept: isKept)
        for row in try session.query(standings) {
            guard let day = CalendarDay(try row.decode("day", as: String.self)) else { continue }
            self.standings[day] = Standing(
                isRunning: try row.decode("is_running"), isPending: try row.decode("is_pending"),
                isProven: try row.decode("is_proven"))
        }
    }
}

extension FigureQuestion {
    /// The sums of a grain. An index has those of a period and measure together, and nearly always there are as few as values. Plans have the
    /// sums of several products each: PostgreSQL adds these up.
    fileprivate func sums(
        _ grain: String, in zone: String, _ session: borrowing PostgresSession
    ) throws -> SummedColumns {
        if !isWhole, split != .plan {
            let found = try SummedColumns("figures.sums", .sums(self, grain, zone), session)
            // PostgreSQL adds up more than these.
            if found.count < Self.mostSums { return found }
        }
        return try SummedColumns("figures.all_sums", .grouped(.allSums(self, grain, zone)), session)
    }

    /// The most sums that are read one by one.
    static let mostSums = 200_000

    /// The grain with the fewest sums for the question, in its currency; nil where only cells answer it.
    fileprivate var sumGrain: String? { currency == nil ? grain?.rawValue : currencyGrain }

    /// The first days of the periods that sums are read of. Fiscal months are made of days.
    fileprivate var summedPeriods: [CalendarDay] {
        step == .fiscalMonth ? CalendarStep.day.periods(of: days).map(\.lowerBound) : periods.map(\.lowerBound)
    }

    /// An expression: the member of the split; `row` is the alias of the row.
    func part(of row: String) -> String {
        switch split {
        case nil: "''"
        case .plan?: "coalesce(plans.plan, '')"
        case let split?: "\(row).\(split.column)"
        }
    }

    /// Expressions: `part`, the member of the split, and `currency`, empty of counts and of converted amounts; `row` is the alias of the row.
    func parts(of row: String) -> String {
        let own = figure.isMoney ? "\(row).currency" : "''"
        let shown = currency == nil ? own : "case when \(row).is_missing then \(own) else '' end"
        return "\(part(of: row)) as part, \(shown) as currency"
    }

    /// A part of a WITH, and a comma behind it, for ``joinPlans(of:)``; empty where the split is not by plan.
    var planPart: String { split == .plan ? "plans as materialized (\(PlanNames.sql)), " : "" }

    /// The same as a whole WITH, for a statement without other parts.
    var withPlans: String { split == .plan ? "with plans as materialized (\(PlanNames.sql))" : "" }

    /// A join of a row with the plan of its product.
    func joinPlans(of row: String) -> String {
        split == .plan ? "left join plans on plans.product_id = \(row).product_id" : ""
    }
}

extension PostgresQuery {
    /// The standing zone, or the first zone while its days are being summed.
    static let zone = PostgresQuery("figures.zone", "select coalesce(zone, next_zone) from storehook.figure_state")

    /// The kept sums of each period and measure.
    fileprivate static func sums(_ question: FigureQuestion, _ grain: String, _ zone: String) -> PostgresQuery {
        """
        \(unescaped: question.withPlans)
        select \(unescaped: question.period(ofSum: "p.period")) as period, \(unescaped: question.parts(of: "s")), s.is_missing, m.place, s.count,
               s.free, s.unknown, s.amount, s.corrected_at
          from (select day::date as period from unnest(\(question.summedPeriods.map(\.description))) day) p
         cross join unnest(\(question.figure.measures.map(\.rawValue))) with ordinality m (measure, place)
         cross join lateral (
            select \(sumsFor: question, grain, in: zone) and s.period = p.period and s.measure = m.measure offset 0) s
          \(unescaped: question.joinPlans(of: "s"))
         limit \(Int64(FigureQuestion.mostSums))
        """
    }

    /// All sums of the days of the question, with the columns of ``sums(_:_:_:)``.
    fileprivate static func allSums(_ question: FigureQuestion, _ grain: String, _ zone: String) -> PostgresQuery {
        """
        \(unescaped: question.withPlans)
        select \(unescaped: question.period(ofSum: "s.period")) as period, \(unescaped: question.parts(of: "s")), s.is_missing,
               array_position(\(question.figure.measures.map(\.rawValue)), s.measure)::bigint as place, s.count, s.free, s.unknown, s.amount,
               s.corrected_at
          from (
            select s.period, s.measure, \(sumsFor: question, grain, in: zone)
               and \(periodsOf: question, grain, in: zone)
               and s.measure = any (\(question.figure.measures.map(\.rawValue)))) s
          \(unescaped: question.joinPlans(of: "s"))
        """
    }

    /// All cells of the days of the question, with the columns of ``sums(_:_:_:)``.
    fileprivate static func cells(_ question: FigureQuestion, _ zone: String) -> PostgresQuery {
        """
        \(unescaped: question.withPlans)
        select \(unescaped: question.period(ofDay: "c.day")) as period, \(unescaped: question.parts(of: "c")), false as is_missing,
               array_position(\(question.figure.measures.map(\.rawValue)), c.measure)::bigint as place, c.count,
               case when c.unit = 0 then c.count else 0 end as free, case when c.unit is null then c.count else 0 end as unknown,
               coalesce(c.unit::numeric * c.count, 0) as amount, null::timestamptz as corrected_at
          from storehook.figure_cells c \(unescaped: question.joinPlans(of: "c"))
         where c.zone = \(zone) and c.environment = \(question.environment)
           and c.day between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
           and c.measure = any (\(question.figure.measures.map(\.rawValue)))
           and (\(question.apps == nil) or c.bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
        """
    }

    /// How final each period is.
    /// - Parameters:
    ///   - from: the first summed day of the zone; nil where all are summed.
    ///   - isKept: whether the answer is from sums in a currency: then days that are not converted yet are pending.
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
                              -- A value includes what customers pay today only after the day has ended.
                              and case when \(question.figure == .lifetimeValue)
                                       then greatest(p.last, (now() at time zone (select zone from z))::date - 1) else p.last end)
                   or coalesce(case when \(question.figure.isStanding) then '-infinity' else p.first end < \(from?.description)::text::date, false)
                      as is_pending,
                   coalesce(proven.is_any and proven.until >= p.ends, false) as is_proven
              from periods p cross join proven
            """)
    }
}

extension PostgresQuery.StringInterpolation {
    /// A condition: the sums `s` are of the days of the question. Months are named one by one: then the index has the wanted measures of each
    /// together, and the other measures between them are not read.
    fileprivate mutating func appendInterpolation(
        periodsOf question: FigureQuestion, _ grain: String, in zone: String
    ) {
        func day(_ day: CalendarDay) {
            appendInterpolation(day.description)
            appendLiteral("::text::date")
        }
        guard question.currency == nil, question.step == .month else {
            appendLiteral("s.period between ")
            day(question.days.lowerBound)
            appendLiteral(" and ")
            day(question.days.upperBound)
            return
        }
        appendLiteral("s.period = any (array(select generate_series((")
        appendLiteral("select min(m.period) from storehook.figure_sums m where m.grain = ")
        appendInterpolation(grain)
        appendLiteral(" and m.zone = ")
        appendInterpolation(zone)
        appendLiteral(" and m.environment = ")
        appendInterpolation(question.environment)
        appendLiteral(" and m.period >= ")
        day(question.days.lowerBound)
        appendLiteral(")::timestamp, ")
        day(question.days.upperBound)
        appendLiteral("::timestamp, interval '1 month')::date))")
    }

    /// What follows SELECT: the parts and values of the sums `s` of a question, in its currency, and conditions.
    fileprivate mutating func appendInterpolation(
        sumsFor question: FigureQuestion, _ grain: String, in zone: String
    ) {
        appendLiteral("s.bundle_id, s.product_id, s.storefront, s.currency, s.count, s.free, s.unknown, s.amount, ")
        if let currency = question.currency {
            appendLiteral("s.is_missing, s.corrected_at from storehook.currency_sums s where s.target = ")
            appendInterpolation(currency)
        } else {
            appendLiteral(
                "false as is_missing, null::timestamptz as corrected_at from storehook.figure_sums s where true")
            if question.figure.isMoney, let only = question.onlyCurrency {
                appendLiteral(" and s.currency = ")
                appendInterpolation(only)
            }
        }
        appendLiteral(" and s.grain = ")
        appendInterpolation(grain)
        appendLiteral(" and s.zone = ")
        appendInterpolation(zone)
        appendLiteral(" and s.environment = ")
        appendInterpolation(question.environment)
        if let apps = question.apps {
            appendLiteral(" and s.bundle_id = any (")
            appendInterpolation(apps.sorted())
            appendLiteral(")")
        }
        appendLiteral(" and s.count <> 0")
    }
}
