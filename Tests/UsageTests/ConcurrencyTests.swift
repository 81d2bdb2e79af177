import AccountStore
import Accounts
import AppStorePayloads
import Foundation
import Postgres
import TestSupport
import Testing

@Suite("Of many at once")
struct ConcurrencyTests {
    /// What becomes of so many, all at once.
    private func outcomes(
        _ count: Int, _ report: @escaping @Sendable (Int) async throws -> UsageOutcome
    ) async throws -> [UsageOutcome] {
        try await withThrowingTaskGroup(of: UsageOutcome.self) { group in
            for number in 0..<count { group.addTask { try await report(number) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("200 on a limit of 100 exactly 100 count, with keys and without", arguments: [false, true])
    func limit(hasKeys: Bool) async throws {
        try await withUsage(connections: 16) { bench in
            let feature = CountedFeature(id: "ai", period: .day, limit: 100)
            let outcomes = try await outcomes(200) { number in
                try await bench.count(.add(1), of: feature, key: hasKeys ? "key \(number)" : nil)
            }
            let counted = outcomes.compactMap { if case .counted(let count) = $0 { count.used } else { nil } }
            #expect(counted.sorted() == Array(1...100))
            #expect(outcomes.filter { $0.words == "refused 100 of 100" }.count == 100, "\(outcomes.map(\.words))")
            #expect(try await bench.used(feature) == 100)
            #expect(try await bench.rows() == [1, hasKeys ? 100 : 0])
        }
    }

    @Test("50 under one key count once, and all hear the same")
    func oneKey() async throws {
        try await withUsage(connections: 16) { bench in
            let feature = CountedFeature(id: "ai", period: .day, limit: 100)
            let outcomes = try await outcomes(50) { _ in try await bench.count(.add(3), of: feature, key: "one") }
            #expect(outcomes.filter { $0.words == "counted 3 of 100" }.count == 1)
            #expect(outcomes.filter { $0.words == "repeated 3 of 100" }.count == 49)
            #expect(try await bench.used(feature) == 3)
        }
    }

    @Test("under one key that has no room nothing counts, and the key is free for when there is")
    func refusedKey() async throws {
        try await withUsage(connections: 16) { bench in
            let feature = CountedFeature(id: "words", period: .total, limit: 10)
            _ = try await bench.count(.add(9), of: feature)
            let outcomes = try await outcomes(20) { _ in try await bench.count(.add(2), of: feature, key: "two") }
            #expect(outcomes.allSatisfy { $0.words == "refused 9 of 10" })
            #expect(try await bench.rows() == [1, 0])
            _ = try await bench.count(.release(5), of: feature)
            #expect(try await bench.count(.add(2), of: feature, key: "two").words == "counted 6 of 10")
        }
    }

    @Test("amounts of every kind never come to more than the limit, whatever is given back meanwhile")
    func mixed() async throws {
        try await withUsage(connections: 16) { bench in
            let feature = CountedFeature(id: "words", period: .total, limit: 20)
            let outcomes = try await outcomes(200) { number in
                switch number % 4 {
                case 0: try await bench.count(.release(Int64(number % 5 + 1)), of: feature)
                case 1: try await bench.count(.add(Int64(number % 7 + 1)), of: feature, key: "\(number)")
                case 2: try await bench.count(.set(Int64(number % 30)), of: feature, key: "\(number)")
                default: try await bench.count(.add(1), of: feature)
                }
            }
            #expect(outcomes.compactMap(\.count).allSatisfy { (0...20).contains($0.used) })
            #expect(try await (0...20).contains(bench.used(feature)))
            #expect(
                try await bench.value("select count(*) from storehook.usage_keys where used > allowed", as: Int64.self)
                    == 0)
        }
    }

    @Test("one that is refused while another is under way waits for what becomes of it, and tells the truth")
    func waiting() async throws {
        try await withUsage { bench in
            let feature = CountedFeature(id: "words", period: .total, limit: 10)
            _ = try await bench.count(.add(8), of: feature)
            #expect(try await bench.countLate(of: feature) == "refused 10 of 10")
            #expect(try await bench.rows() == [1, 0])
        }
    }
}
