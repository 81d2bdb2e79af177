import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("An idempotency key")
struct KeyTests {
    private let daily = CountedFeature(id: "ai_explain", period: .day, limit: 5)
    private let stock = CountedFeature(id: "vocabulary", period: .total, limit: 50)

    @Test("counts once and is answered as at first, whatever was counted and allowed since")
    func once() async throws {
        try await withUsage { bench in
            let first = try await bench.count(.add(2), of: daily, key: "a")
            #expect(first.words == "counted 2 of 5")
            _ = try await bench.count(.add(3), of: daily, key: "b")
            let again = try await bench.count(.add(2), of: daily, key: "a")
            #expect(again.words == "repeated 2 of 5" && again.count == first.count)
            var unlimited = daily
            unlimited.limit = nil
            #expect(try await bench.count(.add(2), of: unlimited, key: "a").words == "repeated 2 of 5")
            // The same word is another key of another account, and for another feature.
            #expect(try await bench.count(.add(2), of: daily, key: "a", for: bench.other).words == "counted 2 of 5")
            #expect(try await bench.count(.add(2), of: stock, key: "a").words == "counted 2 of 50")
            #expect(try await bench.used(daily) == 5)
        }
    }

    @Test("that is used again for another amount or another act is an error of its own, and counts nothing")
    func reused() async throws {
        try await withUsage { bench in
            _ = try await bench.count(.add(2), of: stock, key: "a")
            for act in [UsageReport.Act.add(3), .release(2), .set(2)] {
                #expect(try await bench.count(act, of: stock, key: "a") == .keyReused)
            }
            #expect(try await bench.used(stock) == 2)
            #expect(try await bench.count(.release(2), of: stock, key: "b").words == "counted 0 of 50")
            #expect(try await bench.count(.release(2), of: stock, key: "b").words == "repeated 0 of 50")
            #expect(try await bench.count(.set(9), of: stock, key: "c").words == "counted 9 of 50")
            #expect(try await bench.count(.set(9), of: stock, key: "c").words == "repeated 9 of 50")
        }
    }

    @Test("repeated names the day that was counted, also when the clock has gone on or it was long ago")
    func window() async throws {
        try await withUsage { bench in
            let then = try await bench.now().adding(days: -20)
            let first = try await bench.count(.add(2), of: daily, key: "a", usedAt: then)
            // Sent again without its instant, or with one that is too old by now.
            for usedAt in [nil, then, then.adding(days: -30)] as [Timestamp?] {
                let again = try await bench.count(.add(2), of: daily, key: "a", usedAt: usedAt)
                guard case .repeated(let count) = again else {
                    Issue.record("\(again)")
                    continue
                }
                #expect(count.window.day == first.count?.window.day)
                #expect(count.window.resetsAt == first.count?.window.resetsAt)
            }
            #expect(try await bench.rows() == [1, 1])
        }
    }

    @Test("may be anything, and nothing of it is stored as it was sent")
    func anything() async throws {
        try await withUsage { bench in
            let keys = ["'; drop table x; --", "\u{0}", "ключ 🔑", String(repeating: "é", count: 127), " ", "a ", "a"]
            for key in keys { _ = try await bench.count(.add(1), of: stock, key: key) }
            for key in keys { #expect(try await bench.count(.add(1), of: stock, key: key).words.hasPrefix("repeated")) }
            #expect(try await bench.used(stock) == Int64(keys.count))
            #expect(try await bench.rows() == [1, Int64(keys.count)])
        }
    }

    @Test("is kept until 35 days after the end of what it counted to, and of a stock 35 days")
    func kept() async throws {
        try await withUsage { bench in
            let then = try await bench.now().adding(days: -10)
            _ = try await bench.count(.add(1), of: daily, key: "day", usedAt: then)
            _ = try await bench.count(.add(1), of: stock, key: "stock", usedAt: then)
            let seconds = try await bench.pool.query(
                """
                select extract(epoch from kept_until - coalesce(resets_at, now()))::bigint
                  from storehook.usage_keys order by period
                """
            ).map { try $0.decode(0, as: Int64.self) }
            // A minute's room: what is now was another now.
            #expect(seconds[0] == 35 * 86_400)
            #expect((35 * 86_400 - 60...35 * 86_400).contains(seconds[1]))
        }
    }
}
