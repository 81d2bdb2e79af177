import Testing

@testable import HTTPKit

@Suite("Whether connections are kept")
struct ConnectionKeepingTests {
    private let start = ContinuousClock.now

    /// How requests go on that begin one after the other, so many milliseconds from the start.
    private func begin(_ keeping: inout ConnectionKeeping, at milliseconds: Int...) -> [ConnectionKeeping.Turn] {
        var turns: [ConnectionKeeping.Turn] = []
        for instant in milliseconds { turns.append(keeping.begin(at: start + .milliseconds(instant))) }
        return turns
    }

    /// After the first answer on a new connection.
    private func unproven() -> ConnectionKeeping {
        var keeping = ConnectionKeeping()
        _ = begin(&keeping, at: 0)
        keeping.answer(isFurther: false)
        keeping.end(.kept, isLost: false, at: start)
        return keeping
    }

    @Test("all are that begin before the first answer; then one request tries, and the others wait a moment")
    func first() {
        var keeping = ConnectionKeeping()
        let fresh = begin(&keeping, at: 0, 0, 1000)
        keeping.answer(isFurther: false)
        let trial = begin(&keeping, at: 2000, 2000, 2249, 2250)
        // Of a request that began before the first answer: the trial goes on.
        keeping.answer(isFurther: false)
        keeping.end(.kept, isLost: false, at: start + .milliseconds(2100))
        let others = begin(&keeping, at: 2100, 2300)
        keeping.answer(isFurther: true)
        let proven = begin(&keeping, at: 2400, 2400)
        keeping.end(.trial, isLost: false, at: start + .milliseconds(2500))
        let later = begin(&keeping, at: 2600, 2600)
        #expect(fresh == [.kept, .kept, .kept] && trial == [.trial, .wait, .wait, .own] && others == [.wait, .own])
        #expect(proven == [.kept, .kept] && later == [.kept, .kept])
    }

    @Test("a trial that proves nothing is followed by another one, for which no request waits")
    func unprovenTrial() {
        var keeping = unproven()
        let first = begin(&keeping, at: 0, 0)
        keeping.answer(isFurther: false)
        keeping.end(.trial, isLost: false, at: start)
        let second = begin(&keeping, at: 1, 1)
        #expect(first == [.trial, .wait] && second == [.trial, .own])
    }

    @Test("after a loss none is kept for a minute, also where an answer comes late; then one request tries again")
    func lost() {
        for isProven in [false, true] {
            var keeping = unproven()
            let first = begin(&keeping, at: 0)
            if isProven { keeping.answer(isFurther: true) }
            keeping.end(.trial, isLost: true, at: start)
            keeping.answer(isFurther: true)
            keeping.end(.kept, isLost: false, at: start)
            let resting = begin(&keeping, at: 0, 59_000)
            let rested = begin(&keeping, at: 60_000, 60_000)
            keeping.end(.trial, isLost: true, at: start + .seconds(61))
            let again = begin(&keeping, at: 120_000, 121_000)
            #expect(first == [.trial] && resting == [.own, .own] && rested == [.trial, .own])
            #expect(again == [.own, .trial])
        }
    }
}
