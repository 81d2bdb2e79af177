/// A day of the calendar, without a zone.
package struct CalendarDay: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Days since 1970-01-01.
    package let number: Int64

    /// - Parameter number: days since 1970-01-01, of the years 1 to 9999.
    package init(number: Int64) { self.number = number }

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

    package static func < (a: CalendarDay, b: CalendarDay) -> Bool { a.number < b.number }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }
}
