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

    @Test("tells of what was only counted, and of several at once, with the next that is written")
    func several() {
        var line = TalliedLine(every: .seconds(1))
        #expect(line.isDue(at: start))
        line.add(3)
        #expect(line.isDue(at: start))
        #expect(line.count(2, at: start) == 5)
        #expect(!line.isDue(at: start + .milliseconds(999)))
        line.add(4)
        #expect(line.isDue(at: start + .seconds(1)))
        #expect(line.count(at: start + .seconds(1)) == 5)
    }
}
