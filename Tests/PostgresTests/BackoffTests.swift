import TestSupport
import Testing

@testable import Postgres

@Suite("Backing off")
struct BackoffTests {
    private static let failures = [Int.min, -1, 0, 1, 2, 3, 10, 40, 41, 62, 63, 64, 65, 1000, Int.max - 1, Int.max]

    /// Any backoff an operator could think of, and some that nobody would.
    private func backoff(_ generator: inout SeededGenerator) -> Backoff {
        Backoff(
            base: .milliseconds(Double.random(in: 0...10_000, using: &generator)),
            cap: .milliseconds(Double.random(in: 0...10_000_000, using: &generator)))
    }

    @Test("never waits longer than its cap or less than nothing, whatever the number of failures")
    func bounds() {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            let backoff = backoff(&generator)
            for failures in Self.failures {
                let limit = backoff.limit(afterFailures: failures)
                #expect(limit >= .zero && limit <= backoff.cap, "seed \(generator.seed)")
                let pause = backoff.pause(afterFailures: failures, using: &generator)
                #expect(pause >= .zero && pause <= limit, "seed \(generator.seed)")
            }
        }
    }

    @Test("waits no shorter after more failures, and twice as long until the cap")
    func monotone() {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            let backoff = backoff(&generator)
            for failures in 1..<40 {
                let (this, next) = (
                    backoff.limit(afterFailures: failures), backoff.limit(afterFailures: failures + 1)
                )
                #expect(next == min(backoff.cap, this * 2), "seed \(generator.seed)")
            }
            #expect(backoff.limit(afterFailures: 1) == min(backoff.base, backoff.cap), "seed \(generator.seed)")
        }
    }

    @Test("spreads: what failed together does not come back together")
    func jitter() {
        var generator = SeededGenerator()
        let backoff = Backoff(base: .seconds(1), cap: .seconds(900))
        let pauses = (0..<1000).map { _ in backoff.pause(afterFailures: 8, using: &generator) }
        let limit = backoff.limit(afterFailures: 8)
        #expect(limit == .seconds(128))
        #expect(Set(pauses).count > 990, "seed \(generator.seed)")
        for tenth in 0..<10 {
            let share = pauses.count { $0 >= limit * tenth / 10 && $0 < limit * (tenth + 1) / 10 }
            // 100 are expected; 9.5 is their standard deviation.
            #expect((50...150).contains(share), "seed \(generator.seed)")
        }
    }

    @Test("for a connection that was lost begins at 50 ms and ends at a second")
    func usual() {
        #expect(Backoff().limit(afterFailures: 1) == .milliseconds(50))
        #expect(Backoff().limit(afterFailures: 3) == .milliseconds(200))
        #expect(Backoff().limit(afterFailures: .max) == .seconds(1))
    }
}
