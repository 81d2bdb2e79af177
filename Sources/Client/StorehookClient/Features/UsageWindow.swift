import Foundation

/// The period in which use is counted, as the server last stated its end.
///
/// The answer has the end of a period and not the catalog's time zone. Later and earlier ends are computed from it, so that a device that
/// is offline for days begins anew as the server does. Where the zone changes its offset from UTC, a computed end may be an hour off
/// until the server states the next one.
struct UsageWindow: Sendable, Hashable, Codable {
    /// What is counted over.
    var period: FeatureLimit.Period
    /// The first instant after it; nil of a stock, which never begins anew.
    var resetsAt: Date?

    /// The window that an instant lies in or before: this one, or a later one.
    func rolled(to now: Date) -> UsageWindow {
        guard let resetsAt, resetsAt <= now else { return self }
        switch period {
        case .total: return self
        case .day:
            let days = (now.timeIntervalSince(resetsAt) / Self.day).rounded(.down) + 1
            return UsageWindow(period: period, resetsAt: resetsAt + days * Self.day)
        case .month:
            let calendar = Self.calendar(of: resetsAt)
            let months = calendar.dateComponents([.month], from: resetsAt, to: now).month ?? 0
            let next = calendar.date(byAdding: .month, value: months + 1, to: resetsAt)
            return UsageWindow(period: period, resetsAt: next ?? now + 28 * Self.day)
        }
    }

    /// Its first instant; nil of a stock.
    var startsAt: Date? {
        guard let resetsAt else { return nil }
        switch period {
        case .total: return nil
        case .day: return resetsAt - Self.day
        case .month: return Self.calendar(of: resetsAt).date(byAdding: .month, value: -1, to: resetsAt)
        }
    }

    /// Whether use at an instant counts in it.
    func contains(_ instant: Date) -> Bool {
        (startsAt.map { $0 <= instant } ?? true) && (resetsAt.map { instant < $0 } ?? true)
    }

    /// The window of an instant in the device's calendar, where the server has stated none yet.
    static func estimated(_ period: FeatureLimit.Period, at now: Date, in timeZone: TimeZone) -> UsageWindow {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let component: Calendar.Component
        switch period {
        case .total: return UsageWindow(period: period, resetsAt: nil)
        case .day: component = .day
        case .month: component = .month
        }
        return UsageWindow(period: period, resetsAt: calendar.dateInterval(of: component, for: now)?.end ?? now + day)
    }

    private static let day: TimeInterval = 86_400

    /// A calendar in whose zone a month begins at an instant: its offset from UTC is what makes that instant midnight of a first day.
    private static func calendar(of monthStart: Date) -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let seconds = Int(monthStart.timeIntervalSince1970.truncatingRemainder(dividingBy: day))
        // 12:00 in UTC is midnight both at +12:00 and at -12:00: on the first of a month in one of them.
        for offset in [-seconds, 86_400 - seconds] where (-12 * 3600...14 * 3600).contains(offset) {
            if calendar.component(.day, from: monthStart + TimeInterval(offset)) == 1,
                let zone = TimeZone(secondsFromGMT: offset)
            {
                calendar.timeZone = zone
                break
            }
        }
        return calendar
    }
}
