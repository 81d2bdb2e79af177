package import Base

/// The rate of a currency on a day: how much of it one euro was.
package struct ExchangeRate: Sendable, Hashable {
    /// The day for which it was published.
    package let day: CalendarDay
    /// The currency (ISO 4217), never EUR.
    package let currency: String
    /// How much of it one euro was.
    package let rate: EuroRate

    /// A rate of these parts.
    package init(day: CalendarDay, currency: String, rate: EuroRate) {
        self.day = day
        self.currency = currency
        self.rate = rate
    }
}
