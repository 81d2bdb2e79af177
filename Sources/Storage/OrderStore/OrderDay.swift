import Base

/// A day of the calendar, as orders have one: in the zone of the catalog that was current when the order got its number.
package struct OrderDay: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Days since 1970-01-01.
    let number: Int64

    private init(number: Int64) { self.number = number }

    /// Reads `2026-01-31`; nil for what is no day of the years 1 to 9999.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 10, let instant = Timestamp(iso8601: text), text.prefix(4) != "0000" else {
            return nil
        }
        number = instant.millisecondsSince1970.quotientAndRemainder(dividingBy: 86_400_000).quotient
    }

    /// As it is read.
    package var description: String {
        let day = Timestamp.civil(fromDay: number)
        return "\(Self.padded(day.year, 4))-\(Self.padded(day.month, 2))-\(Self.padded(day.day, 2))"
    }

    package static func < (a: OrderDay, b: OrderDay) -> Bool { a.number < b.number }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// The days whose eight digits begin with some of them; nil where none does.
    static func days(beginningWith digits: some StringProtocol) -> ClosedRange<OrderDay>? {
        let missing = 8 - digits.count
        guard missing >= 0,
            let first = Int64(String(digits) + String(repeating: "0", count: missing)),
            let last = Int64(String(digits) + String(repeating: "9", count: missing))
        else { return nil }
        let (from, to) = (Self.first(notBefore: first), Self.last(notAfter: last))
        return from <= to ? from...to : nil
    }

    /// - Parameter digits: year, month and day as one number, which may be no day.
    private static func first(notBefore digits: Int64) -> OrderDay {
        var (year, month, day) = (digits / 10_000, digits / 100 % 100, digits % 100)
        if year < 1 { (year, month, day) = (1, 1, 1) }
        if month < 1 { (month, day) = (1, 1) }
        if month <= 12, day > length(ofMonth: month, of: year) { (month, day) = (month + 1, 1) }
        if month > 12 { (year, month, day) = (year + 1, 1, 1) }
        return OrderDay(number: Timestamp.dayNumber(year: year, month: month, day: max(day, 1)))
    }

    private static func last(notAfter digits: Int64) -> OrderDay {
        let (year, month) = (digits / 10_000, digits / 100 % 100)
        if month < 1 { return OrderDay(number: Timestamp.dayNumber(year: year, month: 1, day: 1) - 1) }
        if month > 12 { return OrderDay(number: Timestamp.dayNumber(year: year, month: 12, day: 31)) }
        let start = Timestamp.dayNumber(year: year, month: month, day: 1)
        return OrderDay(number: start + min(digits % 100, length(ofMonth: month, of: year)) - 1)
    }

    private static func length(ofMonth month: Int64, of year: Int64) -> Int64 {
        let next = month == 12 ? (year + 1, 1) : (year, month + 1)
        return Timestamp.dayNumber(year: next.0, month: next.1, day: 1)
            - Timestamp.dayNumber(year: year, month: month, day: 1)
    }
}
