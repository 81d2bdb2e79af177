import Figures
import Testing

@Suite("A share of a price is read exactly")
struct PriceShareTests {
    @Test(
        "Percents with at most three decimals are thousandths of a percent, and are written as they are read",
        arguments: [("0%", 0), ("30%", 30_000), ("12.5%", 12_500), ("15.966%", 15_966), ("100%", 100_000)])
    func reads(text: String, thousandths: Int64) {
        let share = PriceShare(text)
        #expect(share?.thousandthsOfPercent == thousandths)
        #expect(share?.description == text)
    }

    @Test(
        "What is no share is none",
        arguments: [
            "", "%", "30", "-1%", "-0%", "100.001%", "12.5555%", "1e1%", " 30%", "30 %", "12,5%", "٣%",
            "9223372036854775808%",
        ])
    func refuses(text: String) {
        #expect(PriceShare(text) == nil)
    }
}
