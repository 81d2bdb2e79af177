/// A month of Apple's fiscal year, like `2026-FM10`: the tenth of fiscal 2026, from 2026-06-28 to 2026-08-01. A ``FiscalCalendar`` has
/// the days.
package struct FiscalMonth: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The fiscal year, by the calendar's year in which it ends.
    package let year: Int
    /// 1 begins the fiscal year.
    package let month: Int

    /// A month; nil where no month has these numbers.
    package init?(year: Int, month: Int) {
        guard (1...9999).contains(year), (1...12).contains(month) else { return nil }
        (self.year, self.month) = (year, month)
    }

    /// Reads `2026-FM10`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard text.count == 9, let year = Int(text.prefix(4)), let month = Int(text.suffix(2)) else { return nil }
        self.init(year: year, month: month)
        // No other way to write it: what is closed is found by its name.
        if description != text { return nil }
    }

    /// As it is read.
    package var description: String { "\(PaddedNumber(year, 4))-FM\(PaddedNumber(month, 2))" }

    package static func < (a: FiscalMonth, b: FiscalMonth) -> Bool { (a.year, a.month) < (b.year, b.month) }
}
