import AppStorePayloads
package import Base
package import Foundation

/// The calendar days of a time zone, by their number from 1970-01-01 on.
///
/// Only the offsets from UTC are Foundation's: a day is equal on every platform, also where clocks change at midnight.
struct LocalDays {
    let timeZone: TimeZone

    /// The day that the calendar shows at an instant.
    func day(of instant: Timestamp) -> Int64 {
        let milliseconds = instant.millisecondsSince1970 + offset(at: instant) * 1000
        return milliseconds >= 0 ? milliseconds / 86_400_000 : (milliseconds - 86_399_999) / 86_400_000
    }

    /// The first instant of a day: midnight, or the first instant after it where the clocks go forward then.
    func start(of day: Int64) -> Timestamp {
        let midnight = Timestamp(secondsSince1970: day * 86_400)
        // By the offsets of the day before and of the day after: on all days but a few they are equal.
        for shift in [-86_400, 86_400] as [Int64] {
            let guess = midnight.adding(seconds: -offset(at: midnight.adding(seconds: shift)))
            if begins(day, at: guess) { return guess }
        }
        // Clocks are up to 14 hours ahead of UTC and 12 behind; the calendar only goes forward.
        var (early, late) = (day * 86_400 - 15 * 3600, day * 86_400 + 15 * 3600)
        while late - early > 1 {
            let middle = early + (late - early) / 2
            if self.day(of: Timestamp(secondsSince1970: middle)) < day { early = middle } else { late = middle }
        }
        return Timestamp(secondsSince1970: late)
    }

    private func begins(_ day: Int64, at instant: Timestamp) -> Bool {
        self.day(of: instant) == day && self.day(of: instant.adding(milliseconds: -1)) < day
    }

    /// By how many seconds the clocks are ahead of UTC.
    private func offset(at instant: Timestamp) -> Int64 {
        Int64(
            timeZone.secondsFromGMT(
                for: Date(timeIntervalSince1970: Double(instant.millisecondsSince1970) / 1000)))
    }
}

extension CalendarDay {
    /// Its first instant in a time zone: midnight, or the first instant after it where the clocks go forward then.
    package func start(in timeZone: TimeZone) -> Timestamp { LocalDays(timeZone: timeZone).start(of: number) }
}
