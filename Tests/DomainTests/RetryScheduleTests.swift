import Base
import TestSupport
import Testing

@Suite("A retry schedule")
struct RetryScheduleTests {
    private static let failures = [Int.min, -1, 0, 1, 2, 3, 10, 40, 41, 62, 63, 64, 65, 1000, Int.max - 1, Int.max]

    /// Any schedule an operator could think of, and some that none would, with its first and longest limit.
    private func schedule(
        _ generator: inout SeededGenerator
    ) -> (schedule: RetrySchedule, first: Duration, longest: Duration) {
        let first = Duration.milliseconds(Double.random(in: 0...10_000, using: &generator))
        let longest = Duration.milliseconds(Double.random(in: 0...10_000_000, using: &generator))
        return (.doubling(from: first, upTo: longest), first, longest)
    }

    @Test("never waits longer than its longest limit or less than nothing, whatever the number of failures")
    func bounds() {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            let (schedule, _, longest) = schedule(&generator)
            for failures in Self.failures {
                let limit = schedule.limit(afterFailures: failures)
                #expect(limit >= .zero && limit <= longest, "seed \(generator.seed)")
                let pause = schedule.pause(afterFailures: failures, using: &generator)
                #expect(pause >= .zero && pause <= limit, "seed \(generator.seed)")
            }
        }
    }

    @Test("waits no shorter after more failures, and twice as long until the longest limit")
    func monotone() {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            let (schedule, first, longest) = schedule(&generator)
            for failures in 1..<40 {
                let (this, next) = (
                    schedule.limit(afterFailures: failures), schedule.limit(afterFailures: failures + 1)
                )
                #expect(next == min(longest, this * 2), "seed \(generator.seed)")
            }
            #expect(schedule.limit(afterFailures: 1) == min(first, longest), "seed \(generator.seed)")
        }
    }

    @Test("spreads: what failed together does not come back together")
    func jitter() {
        var generator = SeededGenerator()
        let schedule = RetrySchedule.doubling(from: .seconds(1), upTo: .seconds(900))
        let pauses = (0..<1000).map { _ in schedule.pause(afterFailures: 8, using: &generator) }
        let limit = schedule.limit(afterFailures: 8)
        #expect(limit == .seconds(128))
        #expect(Set(pauses).count > 990, "seed \(generator.seed)")
        for tenth in 0..<10 {
            let share = pauses.count { $0 >= limit * tenth / 10 && $0 < limit * (tenth + 1) / 10 }
            // 100 are expected; 9.5 is their standard deviation.
            #expect((50...150).contains(share), "seed \(generator.seed)")
        }
    }

    @Test("draws from half of the limit on, or the limit itself, where that is said")
    func factors() {
        var generator = SeededGenerator()
        let half = RetrySchedule.doubling(
            from: .milliseconds(500), upTo: .seconds(20), attempts: 6, jitter: RetrySchedule.halfJitter)
        let limits = [500, 1000, 2000, 4000, 8000, 16_000, 20_000].map { Duration.milliseconds($0) }
        #expect((1...7).map { half.pause(afterFailures: $0, chance: 1) } == limits)
        #expect((1...7).map { half.pause(afterFailures: $0, chance: 0) } == limits.map { $0 / 2 })
        #expect(half.pause(afterFailures: 3, chance: 0.5) == .milliseconds(1500))
        #expect(half.pause(afterFailures: 3, chance: -1) == .seconds(1))
        #expect(half.pause(afterFailures: 3, chance: 7) == .seconds(2))
        for _ in 0..<100 {
            let pause = half.pause(afterFailures: 3, using: &generator)
            #expect(pause >= .seconds(1) && pause < .seconds(2), "seed \(generator.seed)")
        }
        let listed = RetrySchedule.listed([.seconds(1), .seconds(2)])
        #expect((0...4).map { listed.pause(afterFailures: $0) } == [1, 1, 2, 2, 2].map { .seconds($0) })
        #expect(RetrySchedule.listed([]).pause(afterFailures: 1) == .zero)
    }

    @Test("is over after its attempts, of a list after one more than its pauses, and else never")
    func end() {
        let bounded = RetrySchedule.doubling(from: .seconds(1), upTo: .seconds(2), attempts: 3)
        #expect(!bounded.isSpent(afterFailures: 2) && bounded.isSpent(afterFailures: 3))
        let listed = RetrySchedule.listed([.seconds(1), .seconds(2)])
        #expect(listed.attempts == 3 && !listed.isSpent(afterFailures: 2) && listed.isSpent(afterFailures: 3))
        #expect(RetrySchedule.listed([]).isSpent(afterFailures: 1))
        #expect(!RetrySchedule.doubling(from: .seconds(1), upTo: .seconds(2)).isSpent(afterFailures: 1_000_000))
    }
}
