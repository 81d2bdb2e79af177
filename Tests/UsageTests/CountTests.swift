import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("What is used")
struct CountTests {
    private let daily = CountedFeature(id: "ai_explain", period: .day, limit: 5)
    private let monthly = CountedFeature(id: "voice_chat", period: .month, limit: 30)
    private let stock = CountedFeature(id: "vocabulary", period: .total, limit: 50)

    @Test("is counted up to the limit and refused beyond it, and what is refused is not counted")
    func limit() async throws {
        try await withUsage { bench in
            #expect(try await bench.used(daily) == 0)
            #expect(try await bench.count(.add(3), of: daily).words == "counted 3 of 5")
            #expect(try await bench.count(.add(3), of: daily).words == "refused 3 of 5")
            let last = try await bench.count(.add(2), of: daily)
            #expect(last.words == "counted 5 of 5" && last.count?.remaining == 0)
            #expect(try await bench.count(.add(1), of: daily).words == "refused 5 of 5")
            #expect(try await bench.used(daily) == 5)
            // No other account's, and no other feature's.
            #expect(try await bench.count(.add(1), of: daily, for: bench.other).words == "counted 1 of 5")
            #expect(try await bench.count(.add(30), of: monthly).words == "counted 30 of 30")
            // More than there is at all leaves no row, nor does a limit of 0.
            let rows = try await bench.rows()
            #expect(try await bench.count(.add(51), of: stock).words == "refused 0 of 50")
            let none = CountedFeature(id: "offline_books", period: .total, limit: 0)
            #expect(try await bench.count(.add(1), of: none, key: "a").words == "refused 0 of 0")
            #expect(try await bench.rows() == rows)
        }
    }

    @Test("is counted without a limit, too, and goes on counting when the limit changes")
    func unlimited() async throws {
        try await withUsage { bench in
            var feature = daily
            feature.limit = nil
            for _ in 0..<3 { _ = try await bench.count(.add(1_000_000), of: feature) }
            let count = try await bench.count(.add(1), of: feature)
            #expect(count.words == "counted 3000001 of -" && count.count?.remaining == nil)
            let refused = try await bench.count(.add(1), of: daily)
            #expect(refused.words == "refused 3000001 of 5" && refused.count?.remaining == 0)
            #expect(try await bench.used(daily) == 3_000_001)
        }
    }

    @Test("is counted up to a bound under every limit; what is given back counts on below it, and a key is free again")
    func bound() async throws {
        try await withUsage { bench in
            for (limit, kind) in [(Int64?.none, "none"), (.max, "most")] {
                let feature = CountedFeature(id: kind, period: .total, limit: limit)
                let words = limit.map(String.init) ?? "-"
                _ = try await bench.count(.add(1), of: feature)
                try await bench.pool.query(
                    "update storehook.usage_counters set used = \(Usage.most - 2) where feature = \(kind)")
                #expect(
                    try await bench.count(.add(1), of: feature, key: "a").words
                        == "counted \(Usage.most - 1) of \(words)")
                #expect(
                    try await bench.count(.add(2), of: feature, key: "b").words
                        == "full at \(Usage.most - 1) of \(words)")
                #expect(
                    try await bench.count(.add(1), of: feature, key: "b").words == "counted \(Usage.most) of \(words)")
                #expect(try await bench.count(.add(1), of: feature).words == "full at \(Usage.most) of \(words)")
                #expect(
                    try await bench.count(.add(1_000_000), of: feature).words == "full at \(Usage.most) of \(words)")
                #expect(
                    try await bench.count(.release(5), of: feature).words == "counted \(Usage.most - 5) of \(words)")
                #expect(try await bench.count(.set(7), of: feature).words == "counted 7 of \(words)")
            }
        }
    }

    @Test("is refused where it stands near 2^63 already, as a release without a bound has left it")
    func overflow() async throws {
        try await withUsage { bench in
            try await bench.pool.query("alter table storehook.usage_counters drop constraint usage_counters_bound")
            let feature = CountedFeature(id: "words", period: .total, limit: nil)
            _ = try await bench.count(.add(1), of: feature)
            try await bench.pool.query("update storehook.usage_counters set used = \(Int64.max - 1)")
            try await bench.pool.query(
                """
                alter table storehook.usage_counters
                  add constraint usage_counters_bound check (used <= \(unescaped: "\(Usage.most)")) not valid
                """)
            for amount in [1, 2, 1_000_000] as [Int64] {
                #expect(try await bench.count(.add(amount), of: feature).words == "full at \(Int64.max - 1) of -")
            }
            #expect(try await bench.count(.set(3), of: feature).words == "counted 3 of -")
        }
    }

    @Test("of a stock is given back down to 0 and set, within the limit or below what is there; of a time never")
    func givingBack() async throws {
        try await withUsage { bench in
            let first = try await bench.count(.add(40), of: stock)
            #expect(first.words == "counted 40 of 50")
            #expect(try await bench.count(.release(15), of: stock).words == "counted 25 of 50")
            #expect(try await bench.count(.add(26), of: stock).words == "refused 25 of 50")
            #expect(try await bench.count(.release(1_000_000), of: stock).words == "counted 0 of 50")
            #expect(try await bench.count(.set(50), of: stock).words == "counted 50 of 50")
            #expect(try await bench.count(.set(51), of: stock).words == "refused 50 of 50")
            var large = stock
            large.limit = 1000
            #expect(try await bench.count(.set(900), of: large).words == "counted 900 of 1000")
            // After a change to a lower tier: less is less, also where it is still too much.
            #expect(try await bench.count(.set(800), of: stock).words == "counted 800 of 50")
            #expect(try await bench.count(.set(801), of: stock).words == "refused 800 of 50")
            #expect(try await bench.count(.release(1), of: stock).words == "counted 799 of 50")
            #expect(try await bench.count(.add(1), of: stock).words == "refused 799 of 50")
            // Of an account that has none yet.
            #expect(try await bench.count(.release(3), of: stock, for: bench.other).words == "counted 0 of 50")
            #expect(try await bench.count(.set(51), of: stock, for: bench.other).words == "refused 0 of 50")
            for act in [UsageReport.Act.release(1), .set(0)] {
                #expect(try await bench.count(act, of: daily) == .noStock)
                #expect(try await bench.count(act, of: monthly) == .noStock)
            }
            #expect(try await bench.used(stock) == 799)
        }
    }

    @Test("is told for all features of an account at once, 0 where nothing was used in this window")
    func reading() async throws {
        try await withUsage { bench in
            _ = try await bench.count(.add(2), of: daily)
            _ = try await bench.count(.add(7), of: stock)
            // Of yesterday and of another account: not to be seen.
            let yesterday = try await bench.now().adding(days: -1)
            _ = try await bench.count(.add(3), of: daily, usedAt: yesterday)
            _ = try await bench.count(.add(4), of: monthly, for: bench.other)
            let counts = try await bench.usage.current(
                [stock, monthly, daily], of: bench.token, in: UsageBench.shanghai)
            #expect(counts.map(\.feature) == ["vocabulary", "voice_chat", "ai_explain"])
            #expect(counts.map(\.used) == [7, 0, 2] && counts.map(\.remaining) == [43, 30, 3])
            let now = try await bench.now()
            #expect(counts[0].window == .total)
            #expect(counts[1].window == UsageWindow(.month, at: now, in: UsageBench.shanghai))
            #expect(counts[2].window == UsageWindow(.day, at: now, in: UsageBench.shanghai))
            #expect(try await bench.usage.current([], of: bench.token, in: UsageBench.shanghai).isEmpty)
        }
    }

    @Test("counts to the day or month of the database's clock, however wrong the machine's is")
    func clocks() async throws {
        for shift in [-400, -1, 1, 4000] as [Int64] {
            try await withUsage(clock: { Usage.machineClock().adding(days: shift) }) { bench in
                let outcome = try await bench.count(.add(1), of: daily)
                let now = try await bench.now()
                #expect(outcome.count?.window == UsageWindow(.day, at: now, in: UsageBench.shanghai), "\(shift)")
                let read = try await bench.usage.current([daily, monthly], of: bench.token, in: UsageBench.newYork)
                let later = try await bench.now()
                #expect(read[0].window == UsageWindow(.day, at: later, in: UsageBench.newYork), "\(shift)")
                #expect(read[1].window == UsageWindow(.month, at: later, in: UsageBench.newYork), "\(shift)")
                #expect(try await bench.used(daily) == 1, "\(shift)")
            }
        }
    }

    @Test("offline counts to the day and month in which it was, up to the instant in which they end, of its time zone")
    func offline() async throws {
        try await withUsage { bench in
            for zone in [UsageBench.shanghai, UsageBench.newYork] {
                let window = UsageWindow(.day, at: try await bench.now().adding(days: -3), in: zone)
                let (start, reset) = (try #require(window.startsAt), try #require(window.resetsAt))
                var feature = daily
                feature.id = zone == UsageBench.shanghai ? "a" : "b"
                var days: [String?] = []
                for instant in [start.adding(milliseconds: -1), start, reset.adding(milliseconds: -1), reset] {
                    let outcome = try await bench.count(.add(1), of: feature, usedAt: instant, in: zone)
                    days.append(outcome.count?.window.day)
                    #expect(outcome.count?.window.contains(instant) == true)
                }
                #expect(days[1] == window.day && days[2] == window.day)
                #expect(Set(days).count == 3)
                let stored = try await bench.pool.query(
                    """
                    select to_char(starts_on, 'YYYY-MM-DD') || ' ' || used from storehook.usage_counters
                     where feature = \(feature.id) order by 1
                    """
                ).map { try $0.decode(0, as: String.self) }
                #expect(stored == zip([days[0], days[1], days[3]], [1, 2, 1]).map { "\($0 ?? "") \($1)" })
                #expect(try await bench.used(feature, in: zone) == 0)
            }
        }
    }

    @Test("is taken from 35 days back to five minutes ahead, by the database's clock")
    func bounds() async throws {
        try await withUsage { bench in
            func outcome(_ milliseconds: Int64) async throws -> UsageOutcome {
                try await bench.count(.add(1), of: stock, usedAt: bench.now().adding(milliseconds: milliseconds))
            }
            let days = Int64(35 * 86_400_000)
            // An hour's room: the clock goes on between two statements.
            #expect(try await outcome(-days + 3_600_000).count?.used == 1)
            #expect(try await outcome(-days - 1000) == .tooOld)
            #expect(try await outcome(60_000).count?.used == 2)
            #expect(try await outcome(3_600_000) == .inTheFuture)
            for instant in [Timestamp.distantPast, .distantFuture] {
                let outcome = try await bench.count(.add(1), of: daily, usedAt: instant)
                #expect(outcome == (instant == .distantPast ? .tooOld : .inTheFuture))
            }
            #expect(try await bench.used(stock) == 2)
        }
    }

    @Test("is refused as a report where the amount or the key is beyond its bounds")
    func reports() throws {
        for act in [
            UsageReport.Act.add(0), .add(-1), .add(1_000_001), .add(.max), .release(0), .release(.min), .set(-1),
            .set(1_000_000_001),
        ] {
            #expect(throws: UsageReport.Fault.amount) { try UsageReport(act) }
        }
        for key in ["", String(repeating: "k", count: 256)] {
            #expect(throws: UsageReport.Fault.key) { try UsageReport(.add(1), key: key) }
        }
        _ = try UsageReport(.set(0), key: String(repeating: "k", count: 255))
    }
}
