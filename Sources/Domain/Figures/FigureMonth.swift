package import Base

/// A month of the calendar, like `2026-10`, of the years 1 to 9999. Which instants its days have depends on the zone of the figures.
package struct FigureMonth: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Its year.
    package let year: Int
    /// 1 is January.
    package let month: Int

    /// A month; nil where no month has these numbers.
    package init?(year: Int, month: Int) {
        guard (1...9999).contains(year), (1...12).contains(month) else { return nil }
        self.year = year
        self.month = month
    }

    /// Reads `2026-10`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard let day = CalendarDay("\(text)-01") else { return nil }
        self.init(day)
    }

    /// The month of a day of the years 1 to 9999.
    package init(_ day: CalendarDay) {
        let date = Timestamp.civil(fromDay: day.number)
        year = Int(date.year)
        month = Int(date.month)
    }

    /// As it is read.
    package var description: String { "\(PaddedNumber(year, 4))-\(PaddedNumber(month, 2))" }

    /// Its days, the first and the last.
    package var days: ClosedRange<CalendarDay> {
        let first = Timestamp.dayNumber(year: Int64(year), month: Int64(month), day: 1)
        let (nextYear, nextMonth) = month == 12 ? (year + 1, 1) : (year, month + 1)
        let next = Timestamp.dayNumber(year: Int64(nextYear), month: Int64(nextMonth), day: 1)
        return CalendarDay(number: first)...CalendarDay(number: next - 1)
    }

    /// The month that many months later, or earlier where negative; nil outside of the years 1 to 9999.
    package func advanced(by months: Int) -> FigureMonth? {
        guard (-120_000...120_000).contains(months) else { return nil }
        let number = year * 12 + month - 1 + months
        return FigureMonth(year: number / 12, month: number % 12 + 1)
    }

    package static func < (a: FigureMonth, b: FigureMonth) -> Bool { (a.year, a.month) < (b.year, b.month) }
}
