import Figures
import TestSupport
import Testing

@Suite("A rate")
struct EuroRateTests {
    @Test("is an exact decimal number, and equal to the same one with more zeros")
    func exact() throws {
        for (text, billionths, written) in [
            ("1.0823", 1_082_300_000, "1.0823"), ("1.08230", 1_082_300_000, "1.0823"),
            ("29100", 29_100_000_000_000, "29100"),
            ("0.000000001", 1, "0.000000001"), ("007.5", 7_500_000_000, "7.5"), ("100.0", 100_000_000_000, "100"),
            ("999999999.999999999", 999_999_999_999_999_999, "999999999.999999999"),
        ] as [(String, Int64, String)] {
            let rate = try EuroRate(text)
            #expect(rate.billionths == billionths)
            #expect(rate.description == written)
            #expect(EuroRate(billionths: billionths) == rate)
        }
        #expect(EuroRate(billionths: 0) == nil && EuroRate(billionths: -1) == nil)
        #expect(EuroRate(billionths: 1_000_000_000_000_000_000) == nil)
    }

    @Test("is above 0, and is not guessed from anything else")
    func refused() {
        for text in [
            "", ".", "1.", ".5", "1,08", "1e5", "+1", "1.0.8", "0x1", "１", "1 ", "1000000000", "1.0123456789", "NaN",
            "N/A", "--1",
        ] {
            #expect(throws: EuroRate.Refusal.noDecimal, "\(text)") { try EuroRate(text) }
        }
        #expect(throws: EuroRate.Refusal.zero) { try EuroRate("0") }
        #expect(throws: EuroRate.Refusal.zero) { try EuroRate("0.000000000") }
        #expect(throws: EuroRate.Refusal.negative) { try EuroRate("-1.08") }
    }

    @Test("is read as it was written, whatever it is")
    func roundTrip() throws {
        var random = SeededGenerator()
        for _ in 0..<2000 {
            let digits = Int.random(in: 1...18, using: &random)
            let limit = (0..<digits).reduce(1) { most, _ in most * 10 } as Int64
            let rate = try #require(
                EuroRate(billionths: Int64.random(in: 1..<limit, using: &random)), "seed \(random.seed)")
            #expect(try EuroRate(rate.description) == rate, "seed \(random.seed)")
        }
    }
}
