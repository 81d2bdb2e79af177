import AppStorePayloads
public import Base
public import Foundation

/// The day or month of an instant in a time zone, or all time. Every use counts to one window.
public struct UsageWindow: Sendable, Hashable {
    /// The period that use is counted over.
    public let period: Catalog.UsagePeriod
    /// Its first day in that zone's calendar, `2026-03-01`, which identifies a counter. Nil for all time.
    public let day: String?
    /// Its first instant; nil for all time.
    public let startsAt: Timestamp?
    /// The first instant after it, at which counting begins anew; nil for all time.
    public let resetsAt: Timestamp?

    /// All time.
    public static let total = UsageWindow(period: .total, day: nil, startsAt: nil, resetsAt: nil)

    /// A stored window.
    package init(period: Catalog.UsagePeriod, day: String?, startsAt: Timestamp?, resetsAt: Timestamp?) {
        self.period = period
        self.day = day
        self.startsAt = startsAt
        self.resetsAt = resetsAt
    }

    /// The window of an instant. Instants outside the years 1970 to 9998 count as the first or last of them.
    public init(_ period: Catalog.UsagePeriod, at instant: Timestamp, in timeZone: TimeZone) {
        let days = LocalDays(timeZone: timeZone)
        let today = days.day(of: min(max(instant, Self.first), Self.last))
        switch period {
        case .total: self = .total
        case .day: self.init(period, from: today, to: today + 1, in: days)
        case .month:
            let (year, month, _) = Timestamp.civil(fromDay: today)
            self.init(
                period, from: Timestamp.dayNumber(year: year, month: month, day: 1),
                to: Timestamp.dayNumber(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1), in: days)
        }
    }

    private init(_ period: Catalog.UsagePeriod, from first: Int64, to next: Int64, in days: LocalDays) {
        self.init(
            period: period, day: String(Timestamp(secondsSince1970: first * 86_400).description.prefix(10)),
            startsAt: days.start(of: first), resetsAt: days.start(of: next))
    }

    /// A day later than the first, so that no zone has it in 1969.
    private static let first = Timestamp(secondsSince1970: 86_400)
    /// 9998-12-31T00:00:00Z: whatever the zone, the next month has a year of four digits.
    private static let last = Timestamp(secondsSince1970: Timestamp.dayNumber(year: 9998, month: 12, day: 31) * 86_400)

    /// Whether an instant lies in it.
    public func contains(_ instant: Timestamp) -> Bool {
        (startsAt.map { $0 <= instant } ?? true) && (resetsAt.map { instant < $0 } ?? true)
    }
}
