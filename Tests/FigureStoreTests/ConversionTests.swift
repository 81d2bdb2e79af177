import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// Figures in one currency, worked by hand.
struct ConversionTests {
    private static func coin(
        _ id: String, _ day: Int64, price: Int64? = 10_000, _ currency: String? = "USD", signed: Int64? = nil,
        revoked: Int64? = nil, product: String = "coins"
    ) -> LedgerEntry {
        Shop.entry(
            id, at: Shop.day(day, hours: 12), days: nil, product: product, kind: .consumable, price: price,
            signed: Shop.day(signed ?? day, hours: 12)
        ) { payload in
            payload.currency = currency
            payload.revocationDate = revoked.map { Shop.day($0, hours: 12) }
        }
    }

    private static let (first, last) = ("2026-01-01", "2026-12-31")

    /// The same answer from the cells, and from the sums that are kept.
    private static func both(
        _ database: FigureDatabase, _ currency: String, _ body: (_ how: String) async throws -> Void
    ) async throws {
        try await database.settle()
        try await body("from the cells")
        try await database.settle(currency: currency)
        try await body("kept")
    }

    @Test(
        "each amount is rounded half to even by itself, by the last rate of the seven days up to its own, and then added"
    )
    func rounding() async throws {
        try await FigureDatabase.with { database in
            // A Friday and the Monday after it.
            try await database.take("2026-01-02 USD 1.0823", "2026-01-05 USD 2")
            try await database.hear(
                Self.coin("1", 0),  // The day before the first rate.
                Self.coin("2", 1), Self.coin("3", 3),  // 10,000 / 1.0823 is 9,239.582…
                // 0.5, 1.5, 2.5 and 3.5
                Self.coin("4", 4, price: 1), Self.coin("5", 4, price: 3), Self.coin("6", 4, price: 5),
                Self.coin("7", 4, price: 7), Self.coin("8", 4, price: 0), Self.coin("9", 4, price: nil),
                Self.coin("10", 11, price: 40), Self.coin("11", 12, price: 50), Self.coin("12", 4, price: 77, "EUR"))
            try await Self.both(database, "EUR") { (how: String) async throws -> Void in
                #expect(
                    try await database.lines(.gross, Self.first, Self.last, in: "EUR") == [
                        "2026-01-01 USD ! 10000 1 0", "2026-01-02 EUR 9240 1 0", "2026-01-04 EUR 9240 1 0",
                        "2026-01-05 EUR 85 6 1", "2026-01-12 EUR 20 1 0", "2026-01-13 USD ! 50 1 0",
                    ], "\(how)")
                #expect(
                    try await database.lines(.gross, Self.first, Self.last, by: .month, .currency, in: "EUR") == [
                        "2026-01-01 EUR EUR 77 1 0", "2026-01-01 USD EUR 18508 8 1", "2026-01-01 USD USD ! 10050 2 0",
                    ], "\(how)")
                let answer = try await database.figures.answer(
                    database.question(.gross, Self.first, Self.last, by: .month, in: "EUR"))
                #expect(answer.unconverted == [.init(currency: "USD", count: 2, amount: 10_050)], "\(how)")
                #expect(answer.ratesCorrectedAt == nil)
            }
        }
    }

    @Test("amounts and rates as large as there are any are converted exactly")
    func large() async throws {
        try await FigureDatabase.with { database in
            try await database.take(
                "2026-01-02 USD 2", "2026-01-02 JPY 999999999.999999999", "2026-01-02 GBP 0.000000001")
            try await database.hear(
                Self.coin("1", 1, price: 9_000_000_000_000_001), Self.coin("2", 2, price: 9_000_000_000_000_003),
                Self.coin("3", 3, price: 2_000_000_000, "JPY"), Self.coin("4", 4, price: 9_000_000_000, "GBP"),
                // On both sides of what 64 bits count.
                Self.coin("5", 5, price: 4_000_000_001), Self.coin("6", 6, price: 3_999_999_999))
            try await Self.both(database, "EUR") { (how: String) async throws -> Void in
                let days = try await database.figures.answer(
                    database.question(.gross, Self.first, Self.last, in: "EUR"))
                #expect(
                    days.cells.map { $0.sums[.sale].amount } == [
                        4_500_000_000_000_000, 4_500_000_000_000_002, 2, 9_000_000_000_000_000_000, 2_000_000_000,
                        2_000_000_000,
                    ], "\(how)")
            }
        }
    }

    @Test("other currencies go through the euro, by the last day that has both rates")
    func cross() async throws {
        try await FigureDatabase.with { database in
            try await database.take(
                "2026-01-02 USD 1.25", "2026-01-02 JPY 150", "2026-01-05 USD 2", "2026-01-06 JPY 160")
            try await database.hear(
                Self.coin("1", 1, price: 10_000), Self.coin("2", 6, price: 10_000),
                Self.coin("3", 6, price: 160_000, "JPY"),
                Self.coin("4", 6, price: 1_000, "EUR"), Self.coin("5", 8, price: 1_000, "GBP"))
            // On the 7th: 1,200,000 by the rates of the 2nd, 160,000 as they are, and 160,000 by that of the 6th.
            try await Self.both(database, "JPY") { (how: String) async throws -> Void in
                #expect(
                    try await database.lines(.gross, Self.first, Self.last, in: "JPY") == [
                        "2026-01-02 JPY 1200000 1 0",
                        "2026-01-07 JPY 1520000 3 0", "2026-01-09 GBP ! 1000 1 0",
                    ], "\(how)")
            }
        }
    }

    @Test("a refund has its transaction's rate, so that a full one nets 0, however late")
    func refunds() async throws {
        try await FigureDatabase.with { database in
            try await database.take("2026-01-02 USD 1.0823", "2026-03-02 USD 1.5")
            try await database.hear(Self.coin("1", 1), Self.coin("1", 1, signed: 60, revoked: 60))
            try await Self.both(database, "EUR") { (how: String) async throws -> Void in
                #expect(
                    try await database.lines(.net, Self.first, Self.last, by: .month, in: "EUR") == [
                        "2026-01-01 EUR 9240 9240 0", "2026-03-01 EUR -9240 0 9240",
                    ], "\(how)")
                let rows = try await database.rows(
                    FigureRowQuestion(database.question(.net, Self.first, Self.last, in: "EUR")))
                #expect(rows.map(\.amount) == [10_000, -10_000] && rows.map(\.converted) == [9_240, -9_240], "\(how)")
            }
        }
    }

    @Test("a corrected rate changes what was converted by it and nothing else, and answers about it say since when")
    func correction() async throws {
        try await FigureDatabase.with { database in
            try await database.take("2026-01-02 USD 2", "2026-02-02 USD 4")
            try await database.hear(Self.coin("1", 1), Self.coin("2", 33), Self.coin("3", 33, "EUR"))
            try await database.settle(currency: "EUR")
            let (plain, kept) = (try await database.tables(), try await database.conversions())
            func answer(_ month: String) async throws -> FigureAnswer {
                try await database.figures.answer(database.question(.gross, month, by: .month, in: "EUR"))
            }
            #expect(try await database.take("2026-01-02 USD 2", "2026-02-03 USD 5").added == 1)
            try await database.settle(currency: "EUR")
            #expect(try await answer("2026-02-01").lines == ["2026-02-01 EUR 12000 2 0"])
            #expect(try await answer("2026-02-01").ratesCorrectedAt == nil)

            let taken = try await database.take("2026-01-02 USD 1.25", "2026-01-03 JPY 1")
            #expect(taken == RateImport(rates: 2, added: 1, corrected: 1))
            let pending = try await answer("2026-01-01")
            #expect(pending.standings.values.map(\.isPending) == [true])
            #expect(try await answer("2026-02-01").standings.values.map(\.isPending) == [false])
            let unconverted = try await database.figures.answer(database.question(.gross, "2026-01-01", by: .month))
            #expect(unconverted.standings.values.map(\.isPending) == [false])
            #expect(pending.lines == ["2026-01-01 EUR 5000 1 0"])
            #expect(try await database.figures.isDue(in: "UTC", currency: "EUR"))
            try await database.settle(currency: "EUR")
            #expect(try await !database.figures.isDue(in: "UTC", currency: "EUR"))
            #expect(try await database.tables() == plain)
            #expect(try await database.conversions() != kept)
            let corrected = try await answer("2026-01-01")
            #expect(corrected.lines == ["2026-01-01 EUR 8000 1 0"])
            #expect(corrected.standings.values.map(\.isPending) == [false])
            let instants = try await database.site.texts(
                """
                select floor(extract(epoch from corrected_at) * 1000)::bigint::text || ' ' || (corrected_at = replaced_at)
                  from storehook.exchange_rates join storehook.earlier_rates using (currency, day) where earlier_rates.billionths = 2000000000
                """)
            #expect(instants == [corrected.ratesCorrectedAt.map { "\($0.millisecondsSince1970) true" }])
            #expect(try await answer("2026-02-01").ratesCorrectedAt == nil)
            // From the cells, too.
            try await database.settle()
            #expect(try await answer("2026-01-01").ratesCorrectedAt == corrected.ratesCorrectedAt)
            #expect(try await answer("2026-02-01").ratesCorrectedAt == nil)
            #expect(try await database.conversions().isEmpty)
        }
    }

    @Test("a rate that comes later converts what lacked one, in other currencies and days alone")
    func later() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.coin("1", 1), Self.coin("2", 1, "GBP"), Self.coin("3", 9), Self.coin("4", 10))
            try await database.settle(currency: "EUR")
            #expect(
                try await database.lines(.gross, Self.first, Self.last, by: .month, in: "EUR") == [
                    "2026-01-01 GBP ! 10000 1 0", "2026-01-01 USD ! 30000 3 0",
                ])
            // The 2nd to the 9th.
            try await database.take("2026-01-02 USD 1", "2026-01-02 CHF 1", "2026-01-03 USD 2")
            #expect(
                try await database.site.texts("select day::text from storehook.conversion_marks order by 1") == [
                    "2026-01-02", "2026-01-10",
                ])
            try await database.settle(currency: "EUR")
            #expect(
                try await database.lines(.gross, Self.first, Self.last, by: .month, in: "EUR") == [
                    "2026-01-01 EUR 15000 2 0", "2026-01-01 GBP ! 10000 1 0", "2026-01-01 USD ! 10000 1 0",
                ])
            #expect(try await !database.conversions().contains { $0.contains(#""count": 0,"#) })
        }
    }

    @Test("another reporting currency, and another zone, are kept at the end, and answered meanwhile")
    func changes() async throws {
        try await FigureDatabase.with { database in
            try await database.take("2026-01-02 USD 2", "2026-01-02 JPY 100", "2026-01-31 USD 4", "2026-01-31 JPY 100")
            for day in Int64(1)..<60 { try await database.hear(Self.coin("\(day)", day, price: 1_000)) }
            try await database.settle(currency: "EUR")
            func months(_ currency: String) async throws -> [String] {
                try await database.lines(.gross, Self.first, Self.last, by: .month, in: currency)
            }
            // Eight days of January by the one rate, the last of it and six of February by the other.
            let (euros, yens) = (
                [
                    "2026-01-01 EUR 4250 9 0", "2026-01-01 USD ! 21000 21 0", "2026-02-01 EUR 1750 7 0",
                    "2026-02-01 USD ! 21000 21 0",
                ],
                [
                    "2026-01-01 JPY 425000 9 0", "2026-01-01 USD ! 21000 21 0", "2026-02-01 JPY 175000 7 0",
                    "2026-02-01 USD ! 21000 21 0",
                ]
            )
            let lost = "2026-03-01 USD ! 1000 1 0"
            #expect(try await months("EUR") == euros + [lost])
            #expect(try await months("JPY") == yens + [lost])
            var rounds = 0
            while try await database.figures.sum(in: "UTC", currency: "JPY", atMost: 7) {
                rounds += 1
                #expect(try await months("EUR") == euros + [lost])
                #expect(try await months("JPY") == yens + [lost])
            }
            // A month in each.
            #expect(rounds >= 3)
            #expect(try await database.differences().isEmpty)
            #expect(try await database.conversions().allSatisfy { $0.contains(#""target": "JPY""#) })
            while try await database.figures.sum(in: "Asia/Tokyo", currency: "EUR", atMost: 7) {
                #expect(try await months("JPY").count == 5)
            }
            #expect(try await database.differences().isEmpty)
            let held = try await database.conversions()
            #expect(!held.isEmpty && held.allSatisfy { $0.contains(#""zone": "Asia/Tokyo""#) && $0.contains("EUR") })
            #expect(try await months("EUR") == euros + [lost])
        }
    }

    @Test("a currency that changes while the days of a zone are summed is kept for all of them at the end")
    func currencyDuringWalk() async throws {
        try await FigureDatabase.with { database in
            try await database.take("2026-01-02 USD 2", "2026-01-02 JPY 100")
            for day in Int64(1)..<9 { try await database.hear(Self.coin("\(day)", day, price: 1_000)) }
            try await database.settle(currency: "EUR")
            // Some of the days in the zone are summed before the currency is another one, the last ones first.
            while try await database.figures.sum(in: "Asia/Tokyo", currency: "EUR", atMost: 5),
                try await database.site.value(
                    "select count(distinct day) < 2 from storehook.figure_cells where zone = 'Asia/Tokyo'")
            {}
            try await database.settle(in: "Asia/Tokyo", currency: "JPY")
            #expect(
                try await database.lines(.gross, Self.first, Self.last, by: .month, in: "JPY") == [
                    "2026-01-01 JPY 400000 8 0"
                ])
            #expect(try await database.differences().isEmpty)
            #expect(try await database.conversions().allSatisfy { $0.contains(#""target": "JPY""#) })
        }
    }

    @Test("a currency with slow answers is kept beside the reporting one, until 30 days after the last question")
    func asked() async throws {
        try await FigureDatabase.with { database in
            try await database.take("2026-01-02 USD 2", "2026-01-02 JPY 100")
            try await database.hear(Self.coin("1", 1), Shop.entry("s", at: Shop.day(1), price: 4_000))
            try await database.settle(currency: "EUR")
            func targets() async throws -> [String] {
                try await database.site.texts("select distinct target from storehook.currency_sums order by 1")
            }
            func lines() async throws -> [String] {
                try await database.lines(.net, Self.first, Self.last, by: .month, in: "JPY")
            }
            func isDue() async throws -> Bool { try await database.figures.isDue(in: "UTC", currency: "EUR") }
            // What is answered soon is not noted.
            #expect(try await lines() == ["2026-01-01 JPY 700000 700000 0"])
            #expect(try await !isDue())
            let impatient = FigureStore(database.site.pool, patience: .zero)
            for currency in ["JPY", "CHF"] {
                _ = try await impatient.answer(
                    database.question(.net, Self.first, Self.last, by: .month, in: currency))
            }
            #expect(try await isDue())
            #expect(try await targets() == ["EUR"])
            try await database.settle(currency: "EUR")
            #expect(try await !isDue())
            #expect(try await targets() == ["EUR", "JPY"], "there are no rates of francs")
            #expect(try await lines() == ["2026-01-01 JPY 700000 700000 0"])
            // What changes and what is corrected is in it.
            try await database.hear(Self.coin("2", 2, price: 2_000), Self.coin("1", 1, signed: 40, revoked: 40))
            try await database.settle(currency: "EUR")
            #expect(
                try await lines() == ["2026-01-01 JPY 800000 800000 0", "2026-02-01 JPY -500000 0 500000"])
            try await database.take("2026-01-02 JPY 50")
            try await database.settle(currency: "EUR")
            #expect(
                try await lines() == ["2026-01-01 JPY 400000 400000 0", "2026-02-01 JPY -250000 0 250000"])
            #expect(
                try await database.figures.answer(database.question(.net, Self.first, by: .month, in: "JPY"))
                    .ratesCorrectedAt != nil)
            #expect(try await database.differences().isEmpty)
            try await database.site.pool.query(
                "update storehook.asked_currencies set asked_at = now() - interval '31 days'")
            #expect(try await isDue())
            try await database.settle(currency: "EUR")
            #expect(try await !isDue())
            #expect(try await targets() == ["EUR"])
        }
    }

    @Test("in a currency that is kept sums are read, and no cells")
    func kept() async throws {
        try await FigureDatabase.with { database in
            try await database.take("2026-01-02 USD 2")
            try await database.hear(
                Self.coin("1", 1), Self.coin("2", 4, price: 700, "CHF"), Shop.entry("s", at: Shop.day(2)),
                Shop.entry("t", "t", at: Shop.day(3), product: "yearly", price: 50_000),
                Self.coin("1", 1, signed: 8, revoked: 8))
            try await database.settle(currency: "EUR")
            func answers() async throws -> [String] {
                var lines: [String] = []
                for figure in Figure.allCases where figure.isMoney {
                    for split in [nil] + figure.splits.map(Optional.some) {
                        lines += try await database.lines(
                            figure, Self.first, Self.last, by: .month, split, in: "EUR")
                    }
                    guard figure != .lifetimeValue else { continue }
                    lines += try await database.lines(figure, "2026-01-01", "2026-01-31", in: "EUR")
                }
                return lines
            }
            let kept = try await answers()
            #expect(kept.count > 50)
            try await database.site.pool.query("delete from storehook.figure_cells")
            try await database.site.pool.query("delete from storehook.value_cells")
            #expect(try await answers() == kept)
        }
    }

    @Test("figures without money are as they are")
    func counts() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.coin("1", 1), Self.coin("2", 1, "GBP"))
            try await database.settle(currency: "EUR")
            #expect(try await database.lines(.orders, Self.first, Self.last, in: "EUR") == ["2026-01-02 2"])
            #expect(try await database.lines(.transactions, Self.first, Self.last, in: "EUR") == ["2026-01-02 2 0 0"])
            #expect(
                try await database.figures.answer(database.question(.orders, Self.first, in: "EUR")).unconverted == [])
        }
    }
}
