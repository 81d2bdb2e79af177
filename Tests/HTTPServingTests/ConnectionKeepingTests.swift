import Testing

@testable import HTTPKit

@Suite("Whether connections are kept")
struct ConnectionKeepingTests {
    private let start = ContinuousClock.now

    /// Whether requests that begin one after the other, so many seconds from the start, may use a kept connection.
    private func begin(_ keeping: inout ConnectionKeeping, at seconds: Int...) -> [Bool] {
        var allowed: [Bool] = []
        for second in seconds { allowed.append(keeping.mayBegin(at: start + .seconds(second))) }
        return allowed
    }

    @Test("one request at a time tries, until an answer came over a kept connection")
    func unproven() {
        var keeping = ConnectionKeeping()
        let first = begin(&keeping, at: 0, 0)
        keeping.end()
        let second = begin(&keeping, at: 1, 1)
        keeping.prove()
        let proven = begin(&keeping, at: 2, 2)
        keeping.end()
        let later = begin(&keeping, at: 3, 3)
        #expect(first == [true, false] && second == [true, false])
        #expect(proven == [true, true] && later == [true, true])
    }

    @Test("after a loss none is kept for a minute, also where an answer comes late; then one request tries again")
    func lost() {
        for isProven in [false, true] {
            var keeping = ConnectionKeeping()
            let first = begin(&keeping, at: 0)
            if isProven { keeping.prove() }
            keeping.lose(at: start)
            keeping.prove()
            keeping.end()
            let resting = begin(&keeping, at: 0, 59)
            let rested = begin(&keeping, at: 60, 60)
            keeping.lose(at: start + .seconds(61))
            let again = begin(&keeping, at: 120, 121)
            #expect(first == [true] && resting == [false, false] && rested == [true, false])
            #expect(again == [false, true])
        }
    }
}
