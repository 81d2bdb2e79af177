import Outbox
import TestSupport
import Testing

@Suite("The retry policy")
struct RetryPolicyTests {
    private static let attempts = [Int.min, -1, 0, 1, 2, 3, 10, 62, 63, 64, 65, 1000, Int.max - 1, Int.max]

    /// Any policy an operator could think of, and some that nobody would.
    private func policy(_ generator: inout SeededGenerator) -> RetryPolicy {
        RetryPolicy(
            base: Double.random(in: 0...10, using: &generator), cap: Double.random(in: 0...10_000, using: &generator))
    }

    @Test("never waits longer than its cap or less than nothing, whatever the number of attempts")
    func bounds() {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            let policy = policy(&generator)
            for attempt in Self.attempts {
                let bound = policy.bound(afterAttempt: attempt)
                #expect(bound >= 0 && bound <= policy.cap, "seed \(generator.seed)")
                let delay = policy.delay(afterAttempt: attempt, using: &generator)
                #expect(delay >= 0 && delay <= bound, "seed \(generator.seed)")
            }
        }
    }

    @Test("waits no shorter after more attempts, and twice as long until the cap")
    func monotone() {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            let policy = policy(&generator)
            for attempt in 1..<100 {
                let (this, next) = (policy.bound(afterAttempt: attempt), policy.bound(afterAttempt: attempt + 1))
                #expect(next >= this, "seed \(generator.seed)")
                #expect(next == min(policy.cap, 2 * this), "seed \(generator.seed)")
            }
            #expect(policy.bound(afterAttempt: 1) == min(policy.base, policy.cap), "seed \(generator.seed)")
        }
    }

    @Test("spreads: rows that failed together do not come back together")
    func jitter() {
        var generator = SeededGenerator()
        let policy = RetryPolicy()
        let delays = (0..<1000).map { _ in policy.delay(afterAttempt: 8, using: &generator) }
        let bound = policy.bound(afterAttempt: 8)
        #expect(Set(delays).count > 990, "seed \(generator.seed)")
        for tenth in 0..<10 {
            let share = delays.count { $0 >= bound * Double(tenth) / 10 && $0 < bound * Double(tenth + 1) / 10 }
            // 100 are expected; 9.5 is their standard deviation.
            #expect((50...150).contains(share), "seed \(generator.seed)")
        }
    }
}
