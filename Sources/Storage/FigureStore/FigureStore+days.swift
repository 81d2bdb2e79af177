package import Base
package import Figures
import Postgres

extension FigureStore {
    /// Today, in the standing zone of the figures; before the first one, in UTC.
    /// - Throws: `PostgresError`.
    package func today() async throws -> CalendarDay { try await today(in: nil) }

    /// The last day that had ended at an instant of the past, in the standing zone of the figures; before the first one, in UTC.
    /// - Throws: `PostgresError`.
    package func ended(by instant: Timestamp) async throws -> CalendarDay { try await ended(by: instant, in: nil) }

    /// - Parameter zone: nil for the standing zone.
    private func today(in zone: String?, at instant: Timestamp? = nil) async throws -> CalendarDay {
        let today = try await pool.query(.today(in: zone, at: instant)).one().decode(0, as: String.self)
        return CalendarDay(today) ?? CalendarDay(number: 0)
    }

    private func ended(by instant: Timestamp, in zone: String?) async throws -> CalendarDay {
        CalendarDay(number: try await today(in: zone, at: instant).number - 1)
    }

    /// A question about days between two bounds. By default the last day is today, and there are 30 days, or a year of months.
    /// - Parameters:
    ///   - from: the first day, or fiscal month.
    ///   - to: the last day, or fiscal month, included.
    ///   - instant: only periods that had ended by then; nil for all.
    /// - Returns: nil where the last day is before the first one.
    /// - Throws: ``FiscalRefusal``; `PostgresError`.
    package func question(
        _ figure: Figure, from: FigureBound?, to: FigureBound?, by step: FigureQuestion.Step,
        _ split: FigureQuestion.Split? = nil, environment: String = Environment.production.rawValue,
        apps: Set<String>? = nil, in currency: String? = nil, at instant: Timestamp? = nil
    ) async throws -> FigureQuestion? {
        let zone = step == .fiscalMonth ? AppleReport.timeZone : nil
        var until: CalendarDay?
        if let instant { until = try await ended(by: instant, in: zone) }
        let days: ClosedRange<CalendarDay>
        var months: [FiscalCalendar.Month] = []
        if let step = step.calendar {
            for case .month(let month)? in [from, to] { throw FiscalRefusal.otherStep(month) }
            let last = if let until { until } else { try await today() }
            guard let span = step.days(from: from?.day, to: to?.day, today: last) else { return nil }
            days = span
        } else {
            guard let calendar = try await fiscalCalendars.counting() else { throw FiscalRefusal.unreadable }
            func bound(_ bound: FigureBound?, _ day: (ClosedRange<CalendarDay>) -> CalendarDay) throws -> CalendarDay? {
                guard case .month(let month)? = bound else { return bound?.day }
                return day(try calendar.months(from: month, to: month)[0].days)
            }
            let last = if let until { until } else { try await today(in: zone) }
            guard
                let span = CalendarStep.month.days(
                    from: try bound(from, \.lowerBound), to: try bound(to, \.upperBound), today: last)
            else { return nil }
            months = try calendar.months(
                from: calendar.named(span.lowerBound), to: calendar.named(span.upperBound))
            days = span
        }
        var question = FigureQuestion(
            figure, days, by: step, split, fiscalMonths: months, environment: environment, apps: apps, in: currency)
        if let until { question.end(with: until) }
        return question
    }
}

extension FigureBound {
    /// The day; nil of a month.
    fileprivate var day: CalendarDay? {
        guard case .day(let day) = self else { return nil }
        return day
    }
}

extension CalendarStep {
    /// The number of days before the last one, in a question without a first one.
    private var usualDays: Int64 {
        switch self {
        case .month: 365
        case .day: 30
        }
    }

    /// The first day of all: 0001-01-01.
    private static var firstDay: Int64 { FigureQuestion.firstDay }

    /// The days between two. By default the last day is today, and there are 30 days, or a year of months.
    /// - Returns: nil where the last day is before the first one.
    package func days(from: CalendarDay?, to: CalendarDay?, today: CalendarDay) -> ClosedRange<CalendarDay>? {
        let last = to ?? max(today, from ?? today)
        let first = from ?? CalendarDay(number: max(last.number - usualDays, Self.firstDay))
        return first <= last ? first...last : nil
    }
}

extension PostgresQuery {
    /// Today in a zone; nil for the standing zone of the figures.
    static func today(in zone: String?, at instant: Timestamp? = nil) -> PostgresQuery {
        PostgresQuery(
            "figures.today",
            """
            select (least(\(instant.map { PostgresTimestamp($0) })::timestamptz, now())
                    at time zone coalesce(\(zone), zone, next_zone, 'UTC'))::date::text
              from storehook.figure_state
            """)
    }
}
