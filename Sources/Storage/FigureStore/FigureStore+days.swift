package import Base
package import Figures
import Postgres

extension FigureStore {
    /// Today, in the standing zone of the figures; before the first one, in UTC.
    /// - Throws: `PostgresError`.
    package func today() async throws -> CalendarDay { try await today(in: nil) }

    /// - Parameter zone: nil for the standing zone.
    private func today(in zone: String?) async throws -> CalendarDay {
        try await CalendarDay(pool.query(.today(in: zone)).one().decode(0, as: String.self)) ?? CalendarDay(number: 0)
    }

    /// A question about days between two bounds. By default the last day is today, and there are 30 days, or a year of months.
    /// - Parameters:
    ///   - from: the first day, or fiscal month.
    ///   - to: the last day, or fiscal month, included.
    /// - Returns: nil where the last day is before the first one.
    /// - Throws: ``FiscalRefusal``; `PostgresError`.
    package func question(
        _ figure: Figure, from: FigureBound?, to: FigureBound?, by step: FigureQuestion.Step,
        _ split: FigureQuestion.Split? = nil, environment: String = Environment.production.rawValue,
        apps: Set<String>? = nil, in currency: String? = nil
    ) async throws -> FigureQuestion? {
        let days: ClosedRange<CalendarDay>
        var months: [FiscalCalendar.Month] = []
        if let step = step.calendar {
            for case .month(let month)? in [from, to] { throw FiscalRefusal.otherStep(month) }
            guard let span = step.days(from: from?.day, to: to?.day, today: try await today()) else { return nil }
            days = span
        } else {
            guard let calendar = try await fiscalCalendars.counting() else { throw FiscalRefusal.unreadable }
            func bound(_ bound: FigureBound?, _ day: (ClosedRange<CalendarDay>) -> CalendarDay) throws -> CalendarDay? {
                guard case .month(let month)? = bound else { return bound?.day }
                return day(try calendar.months(from: month, to: month)[0].days)
            }
            guard
                let span = CalendarStep.month.days(
                    from: try bound(from, \.lowerBound), to: try bound(to, \.upperBound),
                    today: try await today(in: AppleReport.timeZone))
            else { return nil }
            months = try calendar.months(
                from: calendar.named(span.lowerBound), to: calendar.named(span.upperBound))
            days = span
        }
        return FigureQuestion(
            figure, days, by: step, split, fiscalMonths: months, environment: environment, apps: apps, in: currency)
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
    static func today(in zone: String?) -> PostgresQuery {
        PostgresQuery(
            "figures.today",
            "select (now() at time zone coalesce(\(zone), zone, next_zone, 'UTC'))::date::text from storehook.figure_state"
        )
    }
}
