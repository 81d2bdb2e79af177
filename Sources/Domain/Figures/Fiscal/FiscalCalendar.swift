package import Base

/// Apple's fiscal years and their months. They are made of weeks from Sunday to Saturday, with days in ``AppleReport/timeZone``. A year ends
/// on the last Saturday of September.
package struct FiscalCalendar: Sendable, Hashable {
    /// A fiscal year.
    package struct Year: Sendable, Hashable {
        /// The calendar's year in which it ends.
        package var number: Int
        /// Its first day, a Sunday.
        package var from: CalendarDay
        /// How many weeks each of its twelve months has.
        package var weeks: [Int]

        /// 5, 4 and 4 a quarter.
        package static let usualWeeks = [5, 4, 4, 5, 4, 4, 5, 4, 4, 5, 4, 4]

        /// Its months with their days.
        var months: [Month] {
            var first = from.number
            return weeks.enumerated().compactMap { place, weeks in
                let next = first + Int64(weeks) * 7
                defer { first = next }
                return FiscalMonth(year: number, month: place + 1).map {
                    Month(name: $0, days: CalendarDay(number: first)...CalendarDay(number: next - 1))
                }
            }
        }
    }

    /// A month with its days.
    package struct Month: Sendable, Hashable {
        /// Which one it is.
        package let name: FiscalMonth
        /// Its days, the first and the last.
        package let days: ClosedRange<CalendarDay>

        /// One with these days.
        package init(name: FiscalMonth, days: ClosedRange<CalendarDay>) { (self.name, self.days) = (name, days) }
    }

    /// In their order. Years may be missing.
    package var years: [Year]

    /// The months from one to another, both included; nil where a year is missing, or the first is after the last.
    package func months(_ first: FiscalMonth, _ last: FiscalMonth) -> [Month]? {
        guard first <= last else { return nil }
        var found: [Month] = []
        for number in first.year...last.year {
            guard let year = years.first(where: { $0.number == number }) else { return nil }
            found += year.months.filter { first <= $0.name && $0.name <= last }
        }
        return found
    }

    /// The month of a day; nil where its year is missing.
    package func month(of day: CalendarDay) -> FiscalMonth? {
        years.first { $0.number == Self.year(of: day) }?.months.first { $0.days.contains(day) }?.name
    }

    /// The fiscal year of a day. It need not be in a calendar.
    package static func year(of day: CalendarDay) -> Int {
        let year = FigureMonth(day).year
        return day <= lastDay(of: year) ? year : year + 1
    }

    /// The last day of a fiscal year.
    static func lastDay(of year: Int) -> CalendarDay {
        let september = Timestamp.dayNumber(year: Int64(year), month: 9, day: 30)
        // 1970-01-03 was a Saturday.
        return CalendarDay(number: september - ((september - 2) % 7 + 7) % 7)
    }
}
