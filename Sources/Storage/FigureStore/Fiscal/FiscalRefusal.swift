import Base
package import Figures

/// The reason why fiscal months were not answered, or not closed. Nothing was changed.
package enum FiscalRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The calendar lacks a fiscal year.
    case noYear(Int)
    /// A newer release applied a calendar that this release cannot read.
    case unreadable
    /// Their days are not summed.
    case notKept
    /// A fiscal month bounds other periods.
    case otherStep(FiscalMonth)

    /// One line: what happened, and what to do.
    package var description: String {
        switch self {
        case .noYear(let year):
            "the fiscal calendar has no fiscal year \(year); storehook fiscal-calendar show prints it, and apply takes one with more years"
        case .unreadable:
            "a newer release applied the fiscal calendar, and this one cannot read it; run the newer one"
        case .notKept:
            "fiscal months are not summed yet: write fiscal_months: true into the catalog and apply it, and a worker sums their days"
        case .otherStep(let month): "\(month) is a fiscal month, and its days are those of fiscal-month alone"
        }
    }
}

extension FiscalCalendar {
    /// The months from one to another, both included.
    /// - Throws: ``FiscalRefusal/noYear(_:)``.
    func months(from first: FiscalMonth, to last: FiscalMonth) throws(FiscalRefusal) -> [Month] {
        if let months = months(first, last), !months.isEmpty { return months }
        let lacking = (first.year...max(first.year, last.year)).first { number in
            !years.contains { $0.number == number }
        }
        throw .noYear(lacking ?? first.year)
    }

    /// The month of a day.
    /// - Throws: ``FiscalRefusal/noYear(_:)``.
    func named(_ day: CalendarDay) throws(FiscalRefusal) -> FiscalMonth {
        guard let month = month(of: day) else { throw .noYear(Self.year(of: day)) }
        return month
    }
}
