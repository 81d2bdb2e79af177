package import Base
package import Figures
import Postgres

extension FigureStore {
    /// Closes a month in Production: records all values and the rows that they count, as they stand.
    /// - Parameters:
    ///   - actor: who closes it, for the record.
    ///   - why: why it is closed although it is not proven; nil refuses that.
    /// - Throws: ``CloseRefusal``; ``FiscalRefusal``; `PostgresError`.
    package func close(
        _ month: ClosingMonth, by actor: String, unproven why: String? = nil
    ) async throws -> ClosedMonth {
        let days = try await days(of: month)
        // One snapshot: the rows are by the tables whose versions are recorded. What changes meanwhile is a correction.
        let options = TransactionOptions(
            isolation: .repeatableRead, idleTimeout: .seconds(60), name: "figures.close")
        do {
            return try await pool.withTransaction(options) { session in
                guard let standingZone = try session.query(.zone).one().decode(0, as: String?.self) else {
                    throw CloseRefusal.unsummed(month)
                }
                let zone = month.zone ?? standingZone
                let question = FigureQuestion(.net, days, by: .day)
                let standing = try session.query(.standings([days], zone, question, isKept: false)).one()
                if try standing.decode("is_running") { throw CloseRefusal.running(month) }
                if try session.query(.isWaiting).one().decode(0) { throw CloseRefusal.waiting(month) }
                let isProven: Bool = try standing.decode("is_proven")
                guard isProven || why != nil else { throw CloseRefusal.unproven(month) }
                guard try Self.goesByLastCommission(session) else { throw CloseRefusal.changing(month) }
                let closed = try ClosedMonth.all(
                    session.query(
                        .close(month, days, in: zone, isProven: isProven, by: actor, why: isProven ? nil : why),
                        deadline: .seconds(600))
                )[0]
                try session.query(.sumClosed(closed), deadline: .seconds(600))
                return closed
            }
        } catch let error as PostgresError where error.constraint == "closed_months_open" {
            throw CloseRefusal.closed(month)
        }
    }

    /// Whether figures are summed by the commission table that was applied last. Of one that only a newer release reads, its worker says so.
    private static func goesByLastCommission(_ session: borrowing PostgresSession) throws -> Bool {
        var commission = Commission.standard
        if let last = try session.query(.last(of: Commission.table)).first {
            guard let readable = try? Commission(yaml: last.decode("source")) else { return true }
            commission = readable
        }
        return try !session.query(.differs(from: commission)).one().decode(0)
    }

    /// Opens a closed month again. What it recorded stays on record.
    /// - Throws: ``CloseRefusal``; `PostgresError`.
    package func reopen(_ month: ClosingMonth, by actor: String, why: String) async throws {
        let opened = try await pool.query(
            PostgresQuery(
                "figures.reopen",
                """
                update storehook.closed_months set reopened_at = now(), reopened_by = \(actor), reopened_why = \(why)
                 where month = \(month.description) and reopened_at is null
                returning id
                """))
        if opened.isEmpty { throw CloseRefusal.notClosed(month) }
    }

    private func days(of month: ClosingMonth) async throws -> ClosedRange<CalendarDay> {
        switch month {
        case .calendar(let month): return month.days
        case .fiscal(let month):
            guard let calendar = try await fiscalCalendars.counting() else { throw FiscalRefusal.unreadable }
            return try calendar.months(from: month, to: month)[0].days
        }
    }

    /// The months of some days that are closed, in their order.
    /// - Parameter isFiscal: whether those are of fiscal years, and otherwise of the calendar.
    /// - Throws: `PostgresError`.
    package func closedMonths(
        _ days: ClosedRange<CalendarDay>, isFiscal: Bool = false
    ) async throws -> [ClosedMonth] {
        try ClosedMonth.all(await pool.query(.closedMonths(within: days, isFiscal: isFiscal)))
    }

    /// Answers a question by what closed months recorded. Months that are not closed are left out. The environment is Production.
    /// - Throws: ``TooManyCells``; `PostgresError`.
    package func closedAnswer(_ question: FigureQuestion) async throws -> FigureAnswer {
        guard question.periodCount <= FigureQuestion.mostCells else { throw TooManyCells() }
        let options = TransactionOptions(
            isolation: .repeatableRead, isReadOnly: true, goesByIndexes: true, name: "figures.closed")
        return try await pool.withTransaction(options) { session in
            let months = try ClosedMonth.all(session.query(.closedMonths(of: question)))
            // A calendar that was applied since has perhaps other days.
            let asked = question.with(closed: months)
            var answer = FigureAnswer(question: asked)
            let zones = Set(months.map(\.zone)).sorted()
            answer.zone = zones.isEmpty ? nil : zones.joined(separator: ", ")
            answer.closed = months
            answer.cells = try FigureAnswer.cells(
                session.query(.closedCells(asked, months.map(\.id))), of: asked)
            for place in answer.cells.indices { answer.cells[place].sums.spread() }
            try answer.gatherPlans(session)
            for month in months {
                for period in asked.periods where month.days.contains(period.lowerBound) {
                    answer.standings[period.lowerBound] = FigureAnswer.Standing(isProven: month.isProven)
                }
            }
            return answer
        }
    }
}

extension PostgresQuery {
    /// Whether a notification has waited for more than a minute.
    fileprivate static let isWaiting = PostgresQuery(
        "figures.is_waiting",
        "select exists (select from storehook.outbox_queue where received_at < now() - interval '1 minute')")

    static func closedMonths(of question: FigureQuestion) -> PostgresQuery {
        closedMonths(within: question.days, isFiscal: question.step == .fiscalMonth)
    }

    fileprivate static func closedMonths(within days: ClosedRange<CalendarDay>, isFiscal: Bool) -> PostgresQuery {
        PostgresQuery(
            "figures.closed_months",
            """
            select \(unescaped: ClosedMonth.columns) from storehook.closed_months
             where reopened_at is null and (month like '%-FM%') = \(isFiscal) and first_day <= \(days.upperBound.description)::text::date
               and last_day >= \(days.lowerBound.description)::text::date
             order by month
            """)
    }

    fileprivate static func close(
        _ month: ClosingMonth, _ days: ClosedRange<CalendarDay>, in zone: String, isProven: Bool, by actor: String,
        why: String?
    ) -> PostgresQuery {
        PostgresQuery(
            "figures.close",
            """
            with rows as materialized (
                \(countedIn: days, FigureMeasure.recorded, in: zone)
            ), closed as (
                insert into storehook.closed_months
                       (month, first_day, last_day, zone, catalog_version, commission_version, is_proven, row_count, closed_by,
                        closed_why)
                select \(month.description), \(days.lowerBound.description)::text::date,
                       \(days.upperBound.description)::text::date, \(zone),
                       (select max(version) from storehook.catalogs where current_from is not null),
                       (select max(version) from storehook.commissions), \(isProven),
                       (select count(*) from rows), \(actor), \(why)
                returning \(unescaped: ClosedMonth.columns)
            ), recorded as (
                insert into storehook.closed_rows
                       (closed_id, measure, order_id, item, place, at, bundle_id, product_id, storefront, currency, amount, transaction_id)
                select closed.id, r.measure, r.order_id, r.item, r.place, r.at, r.bundle_id, r.product_id, r.storefront, r.currency, r.amount,
                       r.transaction_id
                  from closed cross join rows r
            )
            table closed
            """)
    }

    fileprivate static func sumClosed(_ month: ClosedMonth) -> PostgresQuery {
        PostgresQuery(
            "figures.sum_closed",
            """
            insert into storehook.closed_cells
                   (closed_id, measure, day, bundle_id, product_id, storefront, currency, count, free, unknown, amount)
            select closed_id, measure,
                   case when measure in ('standing', 'standing_customer') then \(month.days.upperBound.description)::text::date
                        else (at at time zone \(month.zone))::date end,
                   bundle_id, coalesce(product_id, ''), coalesce(storefront, ''),
                   coalesce(currency, ''), count(*), count(*) filter (where amount = 0), count(*) filter (where amount is null),
                   coalesce(sum(amount), 0)
              from storehook.closed_rows
             where closed_id = \(month.id)
             group by 1, 2, 3, 4, 5, 6, 7
            """)
    }

    fileprivate static func closedCells(_ question: FigureQuestion, _ ids: [Int64]) -> PostgresQuery {
        PostgresQuery(
            "figures.closed_cells",
            """
            select (\(unescaped: question.period(ofDay: "day")))::text as period,
                   \(unescaped: question.split?.column ?? "''") as part, \(unescaped: question.figure.isMoney ? "currency" : "''") as currency,
                   measure, sum(count)::bigint as count, sum(free)::bigint as free, sum(unknown)::bigint as unknown,
                   sum(amount)::text as amount
              from storehook.closed_cells
             where closed_id = any (\(ids))
               and day between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
               and measure = any (\(question.figure.recordedMeasures.map(\.rawValue)))
               and (\(question.apps == nil) or bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
             group by 1, 2, 3, 4
             order by 1, 2, 3, 4
             limit \(FigureQuestion.mostRows)
            """)
    }
}

extension ClosingMonth {
    /// The zone of its days; nil for that of the figures.
    fileprivate var zone: String? {
        guard case .fiscal = self else { return nil }
        return AppleReport.timeZone
    }
}

extension FigureQuestion {
    /// By fiscal month, the question about those that are closed, with the days that they had.
    fileprivate func with(closed months: [ClosedMonth]) -> FigureQuestion {
        var question = self
        question.fiscalMonths = months.compactMap { closed in
            guard case .fiscal(let month) = closed.month else { return nil }
            return FiscalCalendar.Month(name: month, days: closed.days)
        }
        if let first = question.fiscalMonths.first, let last = question.fiscalMonths.last {
            question.days = first.days.lowerBound...last.days.upperBound
        }
        return question
    }
}

extension PostgresQuery.StringInterpolation {
    /// The rows of measures on some days in Production, with their app.
    mutating func appendInterpolation(
        countedIn days: ClosedRange<CalendarDay>, _ measures: [FigureMeasure], in zone: String
    ) {
        appendLiteral("with z as materialized (")
        appendInterpolation(span: days, in: zone)
        appendLiteral(") select r.* from (")
        appendLiteral(FigureMeasure.rows(of: measures))
        appendLiteral(") r where r.environment = ")
        appendInterpolation(Environment.production.rawValue)
    }
}
