import Foundation
import Testing

@testable import StorehookClient

@Suite("A period of use")
struct UsageWindowTests {
    private static func date(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

    @Test(
        "begins anew each day at the instant that the server stated, however long the device was offline",
        arguments: [
            ("2026-03-10T15:59:59Z", "2026-03-10T16:00:00Z"), ("2026-03-10T16:00:00Z", "2026-03-11T16:00:00Z"),
            ("2026-03-11T15:59:59Z", "2026-03-11T16:00:00Z"), ("2027-03-10T17:00:00Z", "2027-03-11T16:00:00Z"),
        ])
    func days(_ now: String, _ end: String) throws {
        // Midnight in Shanghai.
        let window = UsageWindow(period: .day, resetsAt: try Self.date("2026-03-10T16:00:00Z"))
        #expect(window.rolled(to: try Self.date(now)).resetsAt == (try Self.date(end)))
    }

    @Test(
        "begins anew each month at midnight of the catalog's zone, which the stated instant shows",
        arguments: [
            // Shanghai: midnight is 16:00 of the day before, and a month before a first has 30, 31 or 28 days.
            ("2026-11-30T16:00:00Z", "2026-11-30T15:59:59Z", "2026-11-30T16:00:00Z"),
            ("2026-11-30T16:00:00Z", "2026-11-30T16:00:00Z", "2026-12-31T16:00:00Z"),
            ("2026-11-30T16:00:00Z", "2027-02-10T00:00:00Z", "2027-02-28T16:00:00Z"),
            // New York in winter.
            ("2026-12-01T05:00:00Z", "2026-12-01T05:00:00Z", "2027-01-01T05:00:00Z"),
            ("2026-12-01T05:00:00Z", "2028-02-20T00:00:00Z", "2028-03-01T05:00:00Z"),
            // UTC, Auckland (+13), Honolulu (-10), and the same instant of the day on Kiritimati (+14).
            ("2026-12-01T00:00:00Z", "2026-12-15T00:00:00Z", "2027-01-01T00:00:00Z"),
            ("2026-11-30T11:00:00Z", "2026-12-15T00:00:00Z", "2026-12-31T11:00:00Z"),
            ("2026-12-01T10:00:00Z", "2026-12-15T00:00:00Z", "2027-01-01T10:00:00Z"),
            ("2026-11-30T10:00:00Z", "2026-12-15T00:00:00Z", "2026-12-31T10:00:00Z"),
        ])
    func months(_ stated: String, _ now: String, _ end: String) throws {
        let window = UsageWindow(period: .month, resetsAt: try Self.date(stated))
        #expect(window.rolled(to: try Self.date(now)).resetsAt == (try Self.date(end)))
    }

    @Test("of a month begins a month before its end")
    func monthStart() throws {
        let window = UsageWindow(period: .month, resetsAt: try Self.date("2027-02-28T16:00:00Z"))
        #expect(window.startsAt == (try Self.date("2027-01-31T16:00:00Z")))
        #expect(window.contains(try Self.date("2027-01-31T16:00:00Z")))
        #expect(!window.contains(try Self.date("2027-01-31T15:59:59Z")))
        #expect(!window.contains(try Self.date("2027-02-28T16:00:00Z")))
    }

    @Test("of a stock never ends")
    func stock() {
        let window = UsageWindow(period: .total, resetsAt: nil)
        #expect(window.rolled(to: .distantFuture) == window)
        #expect(window.contains(.distantPast) && window.contains(.distantFuture))
    }

    @Test("is the device's own day or month, where the server has stated none")
    func estimated() throws {
        let zone = try #require(TimeZone(identifier: "Asia/Shanghai"))
        let now = try Self.date("2026-11-30T15:00:00Z")
        #expect(
            UsageWindow.estimated(.day, at: now, in: zone).resetsAt == (try Self.date("2026-11-30T16:00:00Z")))
        #expect(
            UsageWindow.estimated(.month, at: now, in: zone).resetsAt == (try Self.date("2026-11-30T16:00:00Z")))
        #expect(
            UsageWindow.estimated(.month, at: now, in: .gmt).resetsAt == (try Self.date("2026-12-01T00:00:00Z")))
        #expect(UsageWindow.estimated(.total, at: now, in: zone).resetsAt == nil)
    }
}
