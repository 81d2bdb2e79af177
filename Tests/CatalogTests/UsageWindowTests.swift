import Accounts
import AppStorePayloads
import Base
import Foundation
import Testing

@Suite("The window of an instant")
struct UsageWindowTests {
    private func zone(_ name: String) throws -> TimeZone { try #require(TimeZone(identifier: name), "\(name)") }

    /// Zone, period, instant, first day, first instant, first instant after it.
    private static let windows: [(String, Catalog.UsagePeriod, String, String, String, String)] = [
        // Shanghai is eight hours ahead, all year round.
        (
            "Asia/Shanghai", .day, "2026-03-01T15:59:59.999Z", "2026-03-01", "2026-02-28T16:00:00Z",
            "2026-03-01T16:00:00Z"
        ),
        ("Asia/Shanghai", .day, "2026-03-01T16:00:00Z", "2026-03-02", "2026-03-01T16:00:00Z", "2026-03-02T16:00:00Z"),
        ("Asia/Shanghai", .month, "2026-02-28T15:59:59Z", "2026-02-01", "2026-01-31T16:00:00Z", "2026-02-28T16:00:00Z"),
        ("Asia/Shanghai", .month, "2026-02-28T16:00:00Z", "2026-03-01", "2026-02-28T16:00:00Z", "2026-03-31T16:00:00Z"),
        ("Asia/Shanghai", .month, "2026-12-31T16:00:00Z", "2027-01-01", "2026-12-31T16:00:00Z", "2027-01-31T16:00:00Z"),
        // Leap years have their day, and 2100 is none.
        ("Asia/Shanghai", .month, "2028-02-29T15:59:59Z", "2028-02-01", "2028-01-31T16:00:00Z", "2028-02-29T16:00:00Z"),
        ("Asia/Shanghai", .day, "2028-02-29T00:00:00Z", "2028-02-29", "2028-02-28T16:00:00Z", "2028-02-29T16:00:00Z"),
        ("UTC", .month, "2100-02-28T23:59:59Z", "2100-02-01", "2100-02-01T00:00:00Z", "2100-03-01T00:00:00Z"),
        // New York: the day of 23 hours, and the one of 25.
        (
            "America/New_York", .day, "2026-03-08T04:59:59Z", "2026-03-07", "2026-03-07T05:00:00Z",
            "2026-03-08T05:00:00Z"
        ),
        (
            "America/New_York", .day, "2026-03-08T05:00:00Z", "2026-03-08", "2026-03-08T05:00:00Z",
            "2026-03-09T04:00:00Z"
        ),
        (
            "America/New_York", .day, "2026-03-09T03:59:59Z", "2026-03-08", "2026-03-08T05:00:00Z",
            "2026-03-09T04:00:00Z"
        ),
        (
            "America/New_York", .day, "2026-11-01T04:00:00Z", "2026-11-01", "2026-11-01T04:00:00Z",
            "2026-11-02T05:00:00Z"
        ),
        (
            "America/New_York", .day, "2026-11-01T06:30:00Z", "2026-11-01", "2026-11-01T04:00:00Z",
            "2026-11-02T05:00:00Z"
        ),
        (
            "America/New_York", .day, "2026-11-02T04:59:59Z", "2026-11-01", "2026-11-01T04:00:00Z",
            "2026-11-02T05:00:00Z"
        ),
        (
            "America/New_York", .month, "2026-03-15T12:00:00Z", "2026-03-01", "2026-03-01T05:00:00Z",
            "2026-04-01T04:00:00Z"
        ),
        (
            "America/New_York", .month, "2026-11-15T12:00:00Z", "2026-11-01", "2026-11-01T04:00:00Z",
            "2026-12-01T05:00:00Z"
        ),
        (
            "America/New_York", .month, "2026-01-01T04:59:59Z", "2025-12-01", "2025-12-01T05:00:00Z",
            "2026-01-01T05:00:00Z"
        ),
        // Havana goes forward at midnight, which there is not, and back to midnight, which comes twice.
        ("America/Havana", .day, "2026-03-08T12:00:00Z", "2026-03-08", "2026-03-08T05:00:00Z", "2026-03-09T04:00:00Z"),
        ("America/Havana", .day, "2026-03-08T04:59:59Z", "2026-03-07", "2026-03-07T05:00:00Z", "2026-03-08T05:00:00Z"),
        ("America/Havana", .day, "2026-11-01T05:30:00Z", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z"),
        // Half hours, and an hour of daylight saving that is half of one.
        ("Asia/Kolkata", .day, "2026-05-05T18:30:00Z", "2026-05-06", "2026-05-05T18:30:00Z", "2026-05-06T18:30:00Z"),
        (
            "Australia/Lord_Howe", .day, "2026-04-04T14:00:00Z", "2026-04-05", "2026-04-04T13:00:00Z",
            "2026-04-05T13:30:00Z"
        ),
        // Fourteen hours ahead, eleven behind.
        (
            "Pacific/Kiritimati", .day, "2026-05-05T10:00:00Z", "2026-05-06", "2026-05-05T10:00:00Z",
            "2026-05-06T10:00:00Z"
        ),
        (
            "Pacific/Pago_Pago", .day, "2026-05-05T10:59:59Z", "2026-05-04", "2026-05-04T11:00:00Z",
            "2026-05-05T11:00:00Z"
        ),
        // Samoa had no 30 December 2011.
        ("Pacific/Apia", .day, "2011-12-30T09:59:59Z", "2011-12-29", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"),
        ("Pacific/Apia", .day, "2011-12-30T10:00:00Z", "2011-12-31", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"),
    ]

    @Test("begins and ends with the calendar's day or month there, also where clocks are changed", arguments: windows)
    func borders(
        name: String, period: Catalog.UsagePeriod, at: String, day: String, start: String, reset: String
    ) throws {
        let window = UsageWindow(period, at: try instant(at), in: try zone(name))
        #expect(window.day == day)
        #expect(window.startsAt?.description == start)
        #expect(window.resetsAt?.description == reset)
        #expect(window.contains(try instant(at)))
    }

    @Test("of all time holds every instant and has no end")
    func total() throws {
        let window = UsageWindow(.total, at: try instant("2026-01-01"), in: try zone("Asia/Shanghai"))
        #expect(window == .total && window.day == nil && window.startsAt == nil && window.resetsAt == nil)
        #expect(window.contains(.distantPast) && window.contains(.distantFuture))
    }

    @Test(
        "meets the next without a gap, hour by hour through two years",
        arguments: [
            "Asia/Shanghai", "America/New_York", "America/Havana", "Africa/Cairo", "America/Santiago", "Asia/Beirut",
        ]
    )
    func seamless(name: String) throws {
        let zone = try zone(name)
        for period in [Catalog.UsagePeriod.day, .month] {
            var now = try instant("2025-12-20T00:30:00Z")
            var last = UsageWindow(period, at: now, in: zone)
            for _ in 0..<(2 * 366 * 24) {
                now = now.adding(seconds: 3600)
                let window = UsageWindow(period, at: now, in: zone)
                try #require(window.contains(now), "\(name) \(now) \(window)")
                if window != last {
                    try #require(window.startsAt == last.resetsAt, "\(name) \(now) \(last) \(window)")
                    try #require((window.day ?? "") > (last.day ?? ""), "\(name) \(now)")
                }
                last = window
            }
        }
    }

    @Test("of an instant beyond the calendar is that of its first or last year")
    func far() throws {
        let zone = try zone("Pacific/Kiritimati")
        #expect(UsageWindow(.month, at: .distantPast, in: zone).day == "1970-01-01")
        #expect(UsageWindow(.month, at: .distantFuture, in: zone).day == "9998-12-01")
    }
}
