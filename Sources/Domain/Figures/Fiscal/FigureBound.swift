package import Base

/// The beginning, or the end, of the days of a question about figures.
package enum FigureBound: Sendable, Hashable, CustomStringConvertible {
    /// A day.
    case day(CalendarDay)
    /// A fiscal month, the whole of it.
    case month(FiscalMonth)

    /// Reads `2026-01-31` and `2026-FM04`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        if let day = CalendarDay(text) {
            self = .day(day)
        } else if let month = FiscalMonth(text) {
            self = .month(month)
        } else {
            return nil
        }
    }

    /// Whether it is before another one of its kind; false for a day and a month: to compare these takes a calendar.
    package func precedes(_ other: FigureBound) -> Bool {
        switch (self, other) {
        case (.day(let day), .day(let other)): day < other
        case (.month(let month), .month(let other)): month < other
        default: false
        }
    }

    /// As it is read.
    package var description: String {
        switch self {
        case .day(let day): "\(day)"
        case .month(let month): "\(month)"
        }
    }
}
