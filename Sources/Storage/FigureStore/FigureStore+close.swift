package import Base
package import Figures
import Postgres

extension FigureStore {
    /// Closes a month in Production: records its rows and their sums as they are now.
    /// - Parameters:
    ///   - actor: the actor, for the record.
    ///   - why: the reason to close a month that is not proven; nil refuses such a month.
    /// - Throws: ``CloseRefusal``; ``FiscalRefusal``; `PostgresError`.
    package func close(
        _ month: ClosingMonth, by actor: String, unproven why: String? = nil
    ) async throws -> ClosedMonth {
        let days = try await days(of: month)
        // One snapshot: the rows fit the recorded versions of tables. A change that commits meanwhile is a correction.
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

    /// Whether figures are summed by the latest commission table. If this release cannot read that table, a newer worker sums by it: true.
    private static func goesByLastCommission(_ session: borrowing PostgresSession) throws -> Bool {
        var commission = Commission.standard
        if let last = try session.query(.last(of: Commission.table)).first {
            guard let readable = try? Commission(yaml: last.decode("source")) else { return true }
            commission = readable
        }
        return try !session.query(.differs(from: commission)).one().decode(0)
    }

    /// Opens a closed month again. Its record stays.
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

    /// The closed months with some of these days, in their order.
    /// - Parameter isFiscal: fiscal months, or calendar months.
    /// - Throws: `PostgresError`.
    package func closedMonths(
        _ days: ClosedRange<CalendarDay>, isFiscal: Bool = false
    ) async throws -> [ClosedMonth] {
        try ClosedMonth.all(await pool.query(.closedMonths(within: days, isFiscal: isFiscal)))
    }

    /// The closed months of a question without its figure on record: the release that closed them lacked it.
    /// - Throws: `PostgresError`.
    package func unrecorded(_ question: FigureQuestion) async throws -> [ClosingMonth] {
        let closed = try ClosedMonth.all(await pool.query(.closedMonths(of: question)))
        return closed.filter { !$0.records(question.figure) }.map(\.month)
    }

    /// Answers a question about an instant of the past: from the books as they are now, and of months that were closed then and can be answered
    /// from their records, what these have.
    /// - Parameter instant: nil for now: from the books.
    /// - Throws: ``TooManyCells``; ``FiscalRefusal``; `PostgresError`.
    package func answer(_ question: FigureQuestion, at instant: Timestamp?) async throws -> FigureAnswer {
        var shown = try await self.answer(question)
        if let instant, !question.isNothing, question.step != .day, question.currency == nil,
            question.environment == Environment.production.rawValue, question.figure.unrecorded == nil
        {
            shown.replace(by: try await closedAnswer(question, at: instant))
        }
        // Only sums are read in one currency: cells and records have all.
        if let only = question.onlyCurrency { shown.cells.removeAll { ($0.currency ?? "") != only } }
        return shown
    }

    /// Answers a question from the records of closed months, in Production. Months that are not closed, or lack the figure, are left out.
    /// - Parameter instant: of the months that were closed then; nil for now.
    /// - Throws: ``TooManyCells``; `PostgresError`.
    package func closedAnswer(
        _ question: FigureQuestion, at instant: Timestamp? = nil
    ) async throws -> FigureAnswer {
        guard question.periodCount <= FigureQuestion.mostCells else { throw TooManyCells() }
        let options = TransactionOptions(
            isolation: .repeatableRead, isReadOnly: true, goesByIndexes: true, name: "figures.closed")
        return try await pool.withTransaction(options) { session in
            let all = try ClosedMonth.all(session.query(.closedMonths(of: question, at: instant)))
            let months = all.filter { $0.records(question.figure) }
            // A calendar that was applied later may have other days.
            var asked = question.with(closed: months)
            // The records have each currency by itself.
            asked.currency = nil
            var answer = FigureAnswer(question: asked)
            let zones = Set(months.map(\.zone)).sorted()
            answer.zone = zones.isEmpty ? nil : zones.joined(separator: ", ")
            answer.closed = months
            answer.unrecorded = all.filter { !$0.records(question.figure) }.map(\.month)
            try answer.take(
                SummedColumns("figures.closed_cells", .grouped(.closedCells(asked, months.map(\.id))), session),
                of: asked.figure.recordedMeasures)
            for place in answer.cells.indices { answer.cells[place].sums.spread() }
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

    static func closedMonths(of question: FigureQuestion, at instant: Timestamp? = nil) -> PostgresQuery {
        closedMonths(within: question.days, isFiscal: question.step == .fiscalMonth, at: instant)
    }

    fileprivate static func closedMonths(
        within days: ClosedRange<CalendarDay>, isFiscal: Bool, at instant: Timestamp? = nil
    ) -> PostgresQuery {
        let end = instant.map { PostgresTimestamp.end(of: $0) }
        return PostgresQuery(
            "figures.closed_months",
            """
            select \(unescaped: ClosedMonth.columns) from storehook.closed_months
             where case when \(end)::timestamptz is null then reopened_at is null
                        else closed_at <= \(end) and (reopened_at is null or reopened_at > \(end)) end
               and (month like '%-FM%') = \(isFiscal) and first_day <= \(days.upperBound.description)::text::date
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
                       (month, first_day, last_day, zone, catalog_version, commission_version, is_proven, row_count, measures, closed_by,
                        closed_why)
                select \(month.description), \(days.lowerBound.description)::text::date,
                       \(days.upperBound.description)::text::date, \(zone),
                       (select catalog_version from storehook.figure_state),
                       (select max(version) from storehook.commissions), \(isProven),
                       (select count(*) from rows), \(FigureMeasure.recorded.map(\.rawValue)), \(actor), \(why)
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

    /// The recorded sums of closed months, with the columns of ``SummedColumns``.
    fileprivate static func closedCells(_ question: FigureQuestion, _ ids: [Int64]) -> PostgresQuery {
        """
        \(unescaped: question.withPlans)
        select \(unescaped: question.period(ofDay: "c.day")) as period, \(unescaped: question.parts(of: "c")), false as is_missing,
               array_position(\(question.figure.recordedMeasures.map(\.rawValue)), c.measure)::bigint as place, c.count, c.free, c.unknown,
               c.amount, null::timestamptz as corrected_at
          from storehook.closed_cells c \(unescaped: question.joinPlans(of: "c"))
         where c.closed_id = any (\(ids))
           and c.day between \(question.days.lowerBound.description)::text::date and \(question.days.upperBound.description)::text::date
           and c.measure = any (\(question.figure.recordedMeasures.map(\.rawValue)))
           and (\(question.apps == nil) or c.bundle_id = any (\(question.apps.map { $0.sorted() } ?? [])))
        """
    }
}

extension ClosingMonth {
    /// The zone of its days; nil for the zone of the figures.
    fileprivate var zone: String? {
        guard case .fiscal = self else { return nil }
        return AppleReport.timeZone
    }
}

extension FigureQuestion {
    /// The question with the closed fiscal months, and their days at that time.
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
    /// A query: the rows of measures on some days in Production, each with its app.
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
