package import Base
import Figures

/// The length of a period of the calendar.
package enum CalendarStep: String, Sendable, Hashable, CaseIterable {
    /// A month of the calendar.
    case month
    /// A day.
    case day

    /// These days, or the whole months of them.
    package func whole(_ days: ClosedRange<CalendarDay>) -> ClosedRange<CalendarDay> {
        switch self {
        case .day: days
        case .month: FigureMonth(days.lowerBound).days.lowerBound...FigureMonth(days.upperBound).days.upperBound
        }
    }

    /// The number of periods of some days.
    package func count(of days: ClosedRange<CalendarDay>) -> Int64 {
        switch self {
        case .day: return days.upperBound.number - days.lowerBound.number + 1
        case .month:
            let (first, last) = (FigureMonth(days.lowerBound), FigureMonth(days.upperBound))
            return Int64((last.year - first.year) * 12 + last.month - first.month + 1)
        }
    }

    /// The periods of some days, in their order.
    package func periods(of days: ClosedRange<CalendarDay>) -> [ClosedRange<CalendarDay>] {
        switch self {
        case .day:
            (days.lowerBound.number...days.upperBound.number).map { CalendarDay(number: $0)...CalendarDay(number: $0) }
        case .month:
            Array(
                sequence(first: FigureMonth(days.lowerBound)) { month in
                    month.advanced(by: 1).flatMap { $0.days.lowerBound <= days.upperBound ? $0 : nil }
                }
            ).map(\.days)
        }
    }

    /// A period as people write it: `2026-10`, or `2026-10-31`.
    package func name(of period: CalendarDay) -> String {
        switch self {
        case .day: period.description
        case .month: FigureMonth(period).description
        }
    }
}

extension FigureQuestion.Step {
    /// The step of the calendar; nil for fiscal months.
    var calendar: CalendarStep? {
        switch self {
        case .month: .month
        case .fiscalMonth: nil
        case .day: .day
        }
    }
}
