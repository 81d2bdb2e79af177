import Base

extension CalendarDay {
    /// The days with eight digits that begin with these; nil where there is none.
    static func days(beginningWith digits: some StringProtocol) -> ClosedRange<CalendarDay>? {
        let missing = 8 - digits.count
        guard missing >= 0,
            let first = Int64(String(digits) + String(repeating: "0", count: missing)),
            let last = Int64(String(digits) + String(repeating: "9", count: missing))
        else { return nil }
        let (from, to) = (Self.first(notBefore: first), Self.last(notAfter: last))
        return from <= to ? from...to : nil
    }

    /// - Parameter digits: year, month and day as one number, which may be no day.
    private static func first(notBefore digits: Int64) -> CalendarDay {
        var (year, month, day) = (digits / 10_000, digits / 100 % 100, digits % 100)
        if year < 1 { (year, month, day) = (1, 1, 1) }
        if month < 1 { (month, day) = (1, 1) }
        if month <= 12, day > length(ofMonth: month, of: year) { (month, day) = (month + 1, 1) }
        if month > 12 { (year, month, day) = (year + 1, 1, 1) }
        return CalendarDay(number: Timestamp.dayNumber(year: year, month: month, day: max(day, 1)))
    }

    private static func last(notAfter digits: Int64) -> CalendarDay {
        let (year, month) = (digits / 10_000, digits / 100 % 100)
        if month < 1 { return CalendarDay(number: Timestamp.dayNumber(year: year, month: 1, day: 1) - 1) }
        if month > 12 { return CalendarDay(number: Timestamp.dayNumber(year: year, month: 12, day: 31)) }
        let start = Timestamp.dayNumber(year: year, month: month, day: 1)
        return CalendarDay(number: start + min(digits % 100, length(ofMonth: month, of: year)) - 1)
    }

    private static func length(ofMonth month: Int64, of year: Int64) -> Int64 {
        let next = month == 12 ? (year + 1, 1) : (year, month + 1)
        return Timestamp.dayNumber(year: next.0, month: next.1, day: 1)
            - Timestamp.dayNumber(year: year, month: month, day: 1)
    }
}
