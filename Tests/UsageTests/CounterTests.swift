import AccountStore
import Accounts
import Base
import TestSupport
import Testing

@Suite("Counters of use")
struct CounterTests {
    @Test("of many accounts, features and windows are read at once, each in its place; what was never counted is 0")
    func many() async throws {
        try await withUsage { bench in
            let daily = CountedFeature(id: "ai", period: .day, limit: 5)
            let monthly = CountedFeature(id: "ai", period: .month, limit: 50)
            let stock = CountedFeature(id: "words", period: .total, limit: nil)
            _ = try await bench.count(.add(2), of: daily)
            _ = try await bench.count(.add(3), of: monthly)
            _ = try await bench.count(.add(4), of: stock)
            _ = try await bench.count(.add(5), of: daily, for: bench.other)
            let now = try await bench.now()
            func counter(_ feature: CountedFeature, of account: UniqueIdentifier, days: Int64 = 0) -> UsageCounter {
                UsageCounter(
                    of: account, feature.id,
                    in: UsageWindow(feature.period, at: now.adding(days: days), in: UsageBench.shanghai))
            }
            let counters = [
                counter(stock, of: bench.other), counter(daily, of: bench.other), counter(stock, of: bench.token),
                counter(daily, of: bench.token, days: 1), counter(monthly, of: bench.token),
                counter(daily, of: bench.token), counter(daily, of: bench.token),
            ]
            #expect(try await bench.usage.used(counters) == [0, 5, 4, 0, 3, 2, 2])
            #expect(try await bench.usage.used([]) == [])
        }
    }
}
