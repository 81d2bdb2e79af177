import Figures
import TestSupport
import Testing

@Suite("Reports are read compressed as Apple sends them")
struct GzipTests {
    @Test("A compressed report is the report, in one part or in several")
    func reads() throws {
        let row = ReportFixture.sale("p", "IAY", units: "1", price: "4.99", "USD", "US")
        let text = Array(
            ReportFixture.text(ReportFixture.salesColumns, Array(repeating: row, count: 5000)).utf8)
        let plain = try AppleReport(text)
        #expect(plain.totals[ReportKey("p", "USA", "USD", 4990)]?.units == 5000)
        #expect(try AppleReport(ReportFixture.gzip(text)) == plain)
        let parts = try ReportFixture.gzip(Array(text[..<70_000])) + ReportFixture.gzip(Array(text[70_000...]))
        #expect(try AppleReport(parts) == plain)
    }

    @Test("What was compressed comes out again, also where it cannot be made shorter")
    func roundTrips() throws {
        var chance = SeededGenerator()
        for size in [0, 1, 65_535, 65_536, 65_537, 1_500_000] {
            let noise = (0..<size).map { _ in UInt8.random(in: 0...255, using: &chance) }
            #expect(try Gzip.inflated(try ReportFixture.gzip(noise), atMost: size) == noise, "seed \(chance.seed)")
            let same = [UInt8](repeating: 65, count: size)
            #expect(try Gzip.inflated(try ReportFixture.gzip(same), atMost: size) == same)
        }
    }

    @Test("A file that stands for more than a report is refused before it takes the memory")
    func bomb() throws {
        let bomb = try ReportFixture.gzip([UInt8](repeating: 0, count: 20 << 20))
        #expect(bomb.count < 30_000)
        #expect(
            ReportFixture.faults(bomb, atMost: 1 << 20)
                == ["the file has more than 1 MiB when it is decompressed; a report has less"])
    }

    @Test("A file that is cut off or damaged is refused")
    func damaged() throws {
        let file = try ReportFixture.gzip(Array(repeating: Array("storehook".utf8), count: 1000).flatMap(\.self))
        let cut = "the file is cut off: its compressed end is missing; download it again"
        let damage = "the file is damaged: gzip cannot read it; download it again"
        for length in 2..<file.count { #expect(ReportFixture.faults(Array(file[..<length])) == [cut]) }
        var changed = file
        changed[file.count - 6] ^= 1
        #expect(ReportFixture.faults(changed) == [damage])
        #expect(ReportFixture.faults(file + [1, 2, 3]) == [damage])
    }
}
