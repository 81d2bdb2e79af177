import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("A key's price")
struct KeyBudgetTests {
    private let daily = CountedFeature(id: "ai_explain", period: .day, limit: 1_000_000)
    private static let most: Int64 = 10_000_000
    /// As count_usage has it.
    private let price: Int64 = 310 + 2 * 10

    private func leave(_ bytes: Int64, _ bench: UsageBench) async throws {
        try await bench.pool.query(
            """
            insert into storehook.write_budgets (token, day, bytes)
            values (\(UUID(bench.token)), (now() at time zone 'UTC')::date, \(Self.most - bytes))
                on conflict (token) do update set day = excluded.day, bytes = excluded.bytes
            """)
    }

    private func spent(_ bench: UsageBench) async throws -> Int64 {
        try await bench.value(
            "select coalesce((select bytes from storehook.write_budgets where token = \(UUID(bench.token))), 0)")
    }

    private func isExhausted(_ outcome: UsageOutcome) -> Bool {
        if case .exhausted(let exhausted) = outcome { (1...86_400).contains(exhausted.retryAfter) } else { false }
    }

    @Test("is paid out of the account's budget of the day, and what writes nothing costs nothing")
    func paid() async throws {
        try await withUsage { bench in
            let free = try await bench.count(.add(1), of: daily)
            #expect(free.words == "counted 1 of 1000000")
            #expect(try await spent(bench) == 0)
            #expect(try await bench.count(.add(1), of: daily, key: "a").words == "counted 2 of 1000000")
            #expect(try await spent(bench) == price)
            #expect(try await bench.count(.add(1), of: daily, key: "a").words == "repeated 2 of 1000000")
            #expect(try await bench.count(.add(2), of: daily, key: "a") == .keyReused)
            #expect(try await bench.count(.add(1_000_000), of: daily, key: "b").words == "refused 2 of 1000000")
            #expect(
                try await bench.count(.add(1), of: daily, key: "c", usedAt: bench.now().adding(days: -40)) == .tooOld)
            #expect(try await spent(bench) == price)
        }
    }

    @Test("that cannot be paid is not kept and counts nothing; a report without a key goes on, and so does a known one")
    func exhausted() async throws {
        try await withUsage { bench in
            _ = try await bench.count(.add(1), of: daily, key: "known")
            try await leave(price, bench)
            #expect(try await bench.count(.add(1), of: daily, key: "last").words == "counted 2 of 1000000")
            for key in ["more", "last one"] {
                let outcome = try await bench.count(.add(1), of: daily, key: key)
                #expect(isExhausted(outcome), "\(outcome)")
            }
            #expect(try await bench.rows() == [1, 2])
            #expect(try await bench.used(daily) == 2)
            #expect(try await bench.count(.add(1), of: daily, key: "known").words == "repeated 1 of 1000000")
            #expect(try await bench.count(.add(1), of: daily).words == "counted 3 of 1000000")
            #expect(
                try await bench.count(.add(1), of: daily, key: "more", for: bench.other).words == "counted 1 of 1000000"
            )
            try await bench.pool.query("update storehook.write_budgets set day = day - 1")
            #expect(try await bench.count(.add(1), of: daily, key: "more").words == "counted 4 of 1000000")
            #expect(try await spent(bench) == price)
        }
    }

    @Test("holds from two pools at once: as many keys are kept as were paid, and one sent by many is paid once")
    func concurrent() async throws {
        try await withUsage(connections: 8) { bench in
            let other = PostgresPool(configuration: bench.database.configuration, size: 8, logger: quiet)
            let both = [bench.usage, Usage(other)]
            try await leave(price * 30 + 5, bench)
            @Sendable func report(_ number: Int, _ key: String) async throws -> UsageOutcome {
                try await both[number % 2].count(
                    UsageReport(.add(1), key: key), of: daily, for: bench.token, in: UsageBench.shanghai)
            }
            let once = try await withThrowingTaskGroup(of: UsageOutcome.self) { group in
                for number in 0..<20 { group.addTask { try await report(number, "same") } }
                return try await group.reduce(into: []) { $0.append($1.words) }
            }
            #expect(
                once.filter { $0.hasPrefix("counted") }.count == 1
                    && once.filter { $0.hasPrefix("repeated") }.count == 19)
            let outcomes = try await withThrowingTaskGroup(of: UsageOutcome.self) { group in
                for number in 0..<60 { group.addTask { try await report(number, "key \(number)") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            await other.close()
            #expect(outcomes.filter(isExhausted).count == 31)
            #expect(try await bench.rows() == [1, 30])
            #expect(try await bench.used(daily) == 30)
            #expect(try await spent(bench) == Self.most - 5)
        }
    }

    @Test("is given back where the limit was reached while it was paid")
    func givenBack() async throws {
        try await withUsage { bench in
            let stock = CountedFeature(id: "words", period: .total, limit: 10)
            _ = try await bench.count(.add(8), of: stock)
            #expect(try await bench.countLate(of: stock) == "refused 10 of 10")
            #expect(try await bench.rows() == [1, 0])
            #expect(try await spent(bench) == 0)
        }
    }
}
