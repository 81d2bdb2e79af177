/// A month that is closed as a whole.
package enum ClosingMonth: Sendable, Hashable, CustomStringConvertible {
    /// One of the calendar, in the zone of the figures.
    case calendar(FigureMonth)
    /// One of Apple's fiscal year.
    case fiscal(FiscalMonth)

    /// Reads `2026-10` and `2026-FM10`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        if let month = FigureMonth(text) {
            self = .calendar(month)
        } else if let month = FiscalMonth(text) {
            self = .fiscal(month)
        } else {
            return nil
        }
    }

    /// As it is read. The texts of months of one kind sort like the months.
    package var description: String {
        switch self {
        case .calendar(let month): "\(month)"
        case .fiscal(let month): "\(month)"
        }
    }
}
