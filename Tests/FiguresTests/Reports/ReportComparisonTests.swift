import Figures
import TestSupport
import Testing

@Suite("Apple's report is held against the books key by key")
struct ReportComparisonTests {
    private static let theirs: [ReportKey: ReportTotals] = [
        ReportKey("a", "USA", "USD", 4990): ReportTotals(units: 10, amount: 49_900),
        ReportKey("a", "USA", "USD", 4990, .refund): ReportTotals(units: 1, amount: 4990),
        ReportKey("a", "CHN", "CNY", 68_000): ReportTotals(units: 5, amount: 340_000),
        ReportKey("b", "USA", "USD", 990): ReportTotals(units: 2, amount: 1980),
    ]
    private static let ours: [ReportKey: ReportTotals] = [
        ReportKey("a", "USA", "USD", 4990): ReportTotals(units: 10, amount: 49_900),
        // A refund in part.
        ReportKey("a", "USA", "USD", 4990, .refund): ReportTotals(units: 1, amount: 2000),
        ReportKey("a", "CHN", "CNY", 68_000): ReportTotals(units: 4, amount: 272_000),
        ReportKey("c", "USA", "USD", 990): ReportTotals(units: 1, amount: 990),
        ReportKey("d", "USA", "USD", 990): ReportTotals(),
    ]

    @Test("Each key is equal, only theirs, only ours, of other units or of another amount")
    func outcomes() {
        let comparison = ReportComparison(theirs: Self.theirs, ours: Self.ours, by: .unitsAndAmounts)
        #expect(comparison.lines.map(\.key.productID) == ["a", "a", "a", "b", "c"])
        #expect(comparison.lines.map(\.key.storefront) == ["CHN", "USA", "USA", "USA", "USA"])
        #expect(comparison.lines.map(\.outcome) == [.otherUnits, .equal, .otherAmount, .onlyTheirs, .onlyOurs])
        #expect(ReportComparison.Outcome.allCases.allSatisfy { comparison.count($0) == 1 })
        #expect(comparison.partnerShares.isEmpty)
    }

    @Test("A price, a currency, a storefront and a direction of its own is a key of its own")
    func keys() {
        let key = ReportKey("a", "USA", "USD", 4990)
        let others = [
            ReportKey("b", "USA", "USD", 4990), ReportKey("a", "CAN", "USD", 4990), ReportKey("a", "USA", "CAD", 4990),
            ReportKey("a", "USA", "USD", 4991), ReportKey("a", "USA", "USD", 4990, .refund),
        ]
        for other in others {
            let one = ReportTotals(units: 1, amount: 4990)
            let comparison = ReportComparison(theirs: [key: one], ours: [other: one], by: .unitsAndAmounts)
            #expect(Set(comparison.lines.map(\.outcome)) == [.onlyTheirs, .onlyOurs])
        }
    }

    @Test("By hand: the tolerance is of the report's units, and of its amounts in each currency")
    func tolerance() throws {
        // Units: 1 + 2 + 1 of 18 are 22.2 %. USD: 2.99 + 1.98 + 0.99 = 5.96 of 56.87 is 10.5 %. CNY: 68 of 340 is 20 %.
        let comparison = ReportComparison(theirs: Self.theirs, ours: Self.ours, by: .unitsAndAmounts)
        #expect(!comparison.isWithin(.none))
        #expect(!comparison.isWithin(try #require(PriceShare("22.222%"))))
        #expect(comparison.isWithin(try #require(PriceShare("22.223%"))))
        // One currency is enough to be beyond it.
        let key = ReportKey("a", "USA", "USD", 0)
        let amounts = ReportComparison(
            theirs: [key: ReportTotals(units: 1, amount: 1000)], ours: [key: ReportTotals(units: 1, amount: 899)],
            by: .unitsAndAmounts)
        #expect(!amounts.isWithin(try #require(PriceShare("10%"))))
        #expect(amounts.isWithin(try #require(PriceShare("10.1%"))))
        // What the report does not have at all is beyond every tolerance, and two empty sides are equal.
        let onlyOurs = ReportComparison(theirs: [:], ours: [key: ReportTotals(units: 1)], by: .units)
        #expect(!onlyOurs.isWithin(PriceShare(clamping: 100_000)))
        #expect(ReportComparison(theirs: [:], ours: [:], by: .units).isWithin(.none))
    }

    @Test("Differences up and down do not cancel each other")
    func noCancelling() {
        let (one, other) = (ReportKey("a", "USA", "USD", 990), ReportKey("b", "USA", "USD", 990))
        let comparison = ReportComparison(
            theirs: [one: ReportTotals(units: 9), other: ReportTotals(units: 11)],
            ours: [one: ReportTotals(units: 11), other: ReportTotals(units: 9)], by: .units)
        #expect(!comparison.isWithin(PriceShare(clamping: 19_999)))
        #expect(comparison.isWithin(PriceShare(clamping: 20_000)))
    }

    @Test("A financial report is compared by units alone; its Partner Share stands beside the estimate as a ratio")
    func financial() throws {
        let key = ReportKey("a", "DEU", "EUR", 4990)
        let refund = ReportKey("a", "DEU", "EUR", 4990, .refund)
        let text = ReportFixture.text(
            ReportFixture.financialColumns,
            [("3", "S", "10.50", "EUR"), ("1", "R", "3.50", "EUR"), ("2", "S", "8.00", "USD")].map {
                [
                    "Start Date": "09/28/2025", "End Date": "11/01/2025", "Vendor Identifier": "a", "Quantity": $0,
                    "Sale or Return": $1, "Extended Partner Share": $2, "Partner Share Currency": $3,
                    "Product Type Identifier": "IAY", "Country of Sale": "DE", "Customer Price": "4.99",
                    "Customer Currency": "EUR",
                ]
            })
        let comparison = ReportComparison(
            try AppleReport(Array(text.utf8)),
            with: [
                key: ReportTotals(units: 5, amount: 1, proceeds: ["EUR": 12_000]),
                refund: ReportTotals(units: 1, amount: 1, proceeds: ["EUR": 4000]),
            ])
        #expect(comparison.lines.map(\.outcome) == [.equal, .equal])
        #expect(comparison.isWithin(.none))
        // 10.50 − 3.50 = 7.00 of 12.00 − 4.00 = 8.00 is 87.5 %.
        let euro = try #require(comparison.partnerShares.first)
        #expect(comparison.partnerShares.map(\.currency) == ["EUR", "USD"])
        #expect((euro.theirs, euro.ours, euro.ratio) == (7000, 8000, 87_500))
        #expect(comparison.partnerShares[1].theirs == 8000)
        #expect(comparison.partnerShares[1].ours == nil)
        #expect(comparison.partnerShares[1].ratio == nil)
    }

    @Test("A report that repeats the books is equal, for random sales")
    func repeats() throws {
        var chance = SeededGenerator()
        let countries = [("US", "USA"), ("CN", "CHN"), ("DE", "DEU"), ("XK", "XKS")]
        for _ in 0..<50 {
            var books: [ReportKey: ReportTotals] = [:]
            var rows: [[String: String]] = []
            for _ in 0..<40 {
                let (two, three) = countries[Int.random(in: 0..<4, using: &chance)]
                let price = Int64.random(in: 0...5, using: &chance) * 1990
                let units = Int64.random(in: 1...9, using: &chance)
                let isRefund = Bool.random(using: &chance)
                let key = ReportKey("p", three, "USD", price, isRefund ? .refund : .sale)
                books[key] = (books[key] ?? ReportTotals()).adding(ReportTotals(units: units, amount: units * price))
                let amount = "\(price / 1000).\(String(1000 + price % 1000).dropFirst())"
                rows.append(
                    ReportFixture.sale(
                        "p", "IAY", units: "\(isRefund ? -units : units)", price: (isRefund ? "-" : "") + amount, "USD",
                        two))
            }
            let text = ReportFixture.text(ReportFixture.salesColumns, rows)
            let comparison = ReportComparison(try AppleReport(Array(text.utf8)), with: books)
            #expect(comparison.count(.equal) == books.count, "seed \(chance.seed)")
            #expect(comparison.isWithin(.none), "seed \(chance.seed)")
        }
    }
}
