import Base
import Testing

@Suite("A line that comes again and again")
struct TalliedLineTests {
    private let start = ContinuousClock.now

    @Test("is written once an interval, with how often it would have come")
    func tally() {
        var line = TalliedLine(every: .seconds(600))
        let counts = [0, 1, 2, 599, 600, 601, 5000, 5001].map { line.count(at: start + .seconds($0)) }
        #expect(counts == [1, nil, nil, nil, 4, nil, 2, nil])
    }

    @Test("counts all that happened since the line before, several at once too")
    func several() {
        var line = TalliedLine(every: .seconds(1))
        let counts = [0, 500, 999, 1000].map { line.count(2, at: start + .milliseconds($0)) }
        #expect(counts == [2, nil, nil, 6])
    }
}
