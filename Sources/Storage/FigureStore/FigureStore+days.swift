package import Base
import Postgres

extension FigureStore {
    /// Today, in the zone of the figures that stand; before any do, in UTC.
    /// - Throws: `PostgresError`.
    package func today() async throws -> CalendarDay {
        try await CalendarDay(pool.query(.today).one().decode(0, as: String.self)) ?? CalendarDay(number: 0)
    }

    /// The days of a question. By default they end today, and are those of a year or, by day, 30 days.
    /// - Returns: nil where the last day is before the first one.
    /// - Throws: `PostgresError`.
    package func days(
        from: CalendarDay?, to: CalendarDay?, by step: FigureQuestion.Step
    ) async throws -> ClosedRange<CalendarDay>? {
        step.days(from: from, to: to, today: try await today())
    }
}

extension FigureQuestion.Step {
    /// How many days come before the last one where no first one is asked for.
    private var usualDays: Int64 {
        switch self {
        case .month: 365
        case .day: 30
        }
    }

    /// The first day that there is: 0001-01-01.
    private static var firstDay: Int64 { FigureQuestion.firstDay }

    func days(from: CalendarDay?, to: CalendarDay?, today: CalendarDay) -> ClosedRange<CalendarDay>? {
        let last = to ?? max(today, from ?? today)
        let first = from ?? CalendarDay(number: max(last.number - usualDays, Self.firstDay))
        return first <= last ? first...last : nil
    }
}

extension PostgresQuery {
    /// Today in the zone of the figures that stand.
    static let today = PostgresQuery(
        "figures.today",
        "select (now() at time zone coalesce(zone, next_zone, 'UTC'))::date::text from storehook.figure_state")
}
