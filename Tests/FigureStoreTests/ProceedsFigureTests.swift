import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// Estimated proceeds of small shops, worked by hand.
@Suite("Figures of proceeds")
struct ProceedsFigureTests {
    /// Of 9.99: 70 %, and 85 %, which is a half between two thousandths.
    private static let (first, later): (Int64, Int64) = (6_993, 8_492)
    /// Long enough before 2026-03-15.
    private static let start: Int64 = -600

    /// Months of 30 days, each behind the other.
    /// - Parameters:
    ///   - months: their places from 0 on.
    ///   - day: that of the first place.
    private static func months(
        _ line: String, _ months: Range<Int64>, from day: Int64 = start, _ product: String = "basic",
        isRenewal: Bool = true, signed: Int64? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> [LedgerEntry] {
        months.map { month in
            Shop.entry(
                line, "\(line).\(month)", at: Shop.day(day + 30 * month), product: product,
                renewal: isRenewal && month > 0, first: Shop.day(start), signed: signed.map { Shop.day($0) }, change)
        }
    }

    private static func coin(
        _ id: String, _ day: Int64, price: Int64? = 9_990, signed: Int64? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        Shop.entry(
            id, at: Shop.day(day), days: nil, product: "coins", kind: .consumable, price: price,
            signed: signed.map { Shop.day($0) }, change)
    }

    /// What the sales of a purchase bring, in the order of time.
    private func brought(_ database: FigureDatabase, _ line: String) async throws -> [Int64?] {
        try await database.proceeds().filter {
            $0.measure == .proceeds && $0.transactionID?.hasPrefix("\(line).") == true
        }
        .map(\.amount)
    }

    private func repeated(_ value: Int64, _ count: Int) -> [Int64?] { Array(repeating: value, count: count) }

    @Test(
        "the 13th month is one of later years: over 60 days of lapse, renewed early, upgraded; not over 61 days, of a trial and of a refunded month"
    )
    func years() async throws {
        try await FigureDatabase.with { database in
            var entries = Self.months("plain", 0..<14)
            for (line, gap) in [("sixty", Int64(60)), ("sixtyone", 61), ("early", -1)] {
                entries += Self.months(line, 0..<12) + Self.months(line, 12..<13, from: Self.start + gap)
            }
            // Each of two lapses is short enough. Behind an earlier one of 61 days the year began anew.
            entries += Self.months("often", 0..<1) + Self.months("often", 1..<6, from: Self.start + 61)
            entries += Self.months("often", 6..<14, from: Self.start + 61 + 59)
            entries += Self.months("trial", 0..<1) {
                ($0.price, $0.offerType, $0.offerDiscountType) = (0, .introductory, .freeTrial)
            }
            entries += Self.months("trial", 1..<14)
            entries += Self.months("refunded", 0..<14)
            let back = Self.start + 130
            entries += Self.months("refunded", 4..<5, signed: back) { $0.revocationDate = Shop.day(back) }
            // A part that is given back leaves the month counted.
            entries += Self.months("partly", 0..<13)
            entries += Self.months("partly", 4..<5, signed: back) {
                ($0.revocationDate, $0.revocationType, $0.revocationPercentage) = (
                    Shop.day(back), .refundProrated, 50_000
                )
            }
            // Ten days into the sixth month.
            entries += Self.months("upgraded", 0..<6)
            entries += Self.months("upgraded", 6..<7, from: Self.start - 20, "premium", isRenewal: false)
            entries += Self.months("upgraded", 7..<13, from: Self.start - 20, "premium")
            entries +=
                Self.months("free", 0..<6) + Self.months("free", 6..<7) { $0.price = 0 } + Self.months("free", 7..<14)
            // Ninety free days, which are no lapse; and weeks: 52 of them are a year.
            entries += Self.months("freely", 0..<12) + Self.months("freely", 12..<15) { $0.price = 0 }
            entries += Self.months("freely", 15..<16)
            for week in Int64(0)..<54 {
                entries.append(
                    Shop.entry(
                        "weekly", "weekly.\(week)", at: Shop.day(Self.start + 7 * week), days: 7, product: "week",
                        renewal: week > 0, price: 9_990, first: Shop.day(Self.start)))
            }
            try await database.hear(contentsOf: entries)
            try await database.settle()
            let year = repeated(Self.first, 12)
            #expect(try await brought(database, "freely") == year + [Self.later])
            #expect(try await brought(database, "weekly") == repeated(Self.first, 52) + repeated(Self.later, 2))
            #expect(try await brought(database, "plain") == year + repeated(Self.later, 2))
            #expect(try await brought(database, "sixty") == year + [Self.later])
            #expect(try await brought(database, "sixtyone") == year + [Self.first])
            #expect(try await brought(database, "early") == year + [Self.later])
            #expect(try await brought(database, "often") == repeated(Self.first, 13) + [Self.later])
            #expect(try await brought(database, "trial") == year + [Self.later])
            #expect(try await brought(database, "refunded") == year + [Self.first, Self.later])
            #expect(try await brought(database, "partly") == year + [Self.later])
            #expect(try await brought(database, "upgraded") == year + [Self.later])
            #expect(try await brought(database, "free") == year + [Self.later])
            #expect(try await database.differences().isEmpty)
            // What is added to a period counts with it: of fourteen months one is a part of another.
            try await database.site.pool.query(
                """
                update storehook.booked_transactions set part_of = (select item from storehook.booked_transactions where transaction_id = 'plain.4')
                 where transaction_id = 'plain.5'
                """)
            try await database.settle()
            #expect(try await brought(database, "plain") == year + [Self.first, Self.later])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("a year is paid at once, one bought once is none, and a product that the catalog lacks counts by its length")
    func kinds() async throws {
        try await FigureDatabase.with { database in
            for year in Int64(0)..<3 {
                for product in ["yearly", "mystery"] {
                    try await database.hear(
                        Shop.entry(
                            product, "\(product).\(year)", at: Shop.day(Self.start + 365 * year), days: 365,
                            product: product, renewal: year > 0, price: 59_950, first: Shop.day(Self.start)))
                }
            }
            for month in Int64(0)..<14 { try await database.hear(Self.coin("coin.\(month)", Self.start + 30 * month)) }
            try await database.settle()
            // 85 % are 50,957.5.
            #expect(try await brought(database, "yearly") == [41_965, 50_958, 50_958])
            #expect(try await brought(database, "mystery") == [41_965, 50_958, 50_958])
            #expect(try await brought(database, "coin") == repeated(Self.first, 14))
        }
    }

    @Test("by country, program, app and kind, each from its day on; tax is taken off first")
    func terms() async throws {
        try await FigureDatabase.with { database in
            for (place, day) in [Int64(4), 5, 9, 10, 72, 73].enumerated() {
                try await database.hear(
                    Self.coin("usa.\(place)", day), Self.coin("chn.\(place)", day) { $0.storefront = "CHN" },
                    Self.coin("deu.\(place)", day) { $0.storefront = "DEU" },
                    Self.coin("none.\(place)", day) { $0.storefront = nil })
            }
            for month in Int64(0)..<14 {
                try await database.hear(
                    contentsOf: Self.months("china", month..<month + 1, from: 75 - 12 * 30) { $0.storefront = "CHN" })
            }
            try await database.settle()
            // 75 % of 9,990 are 7,492.5.
            #expect(try await brought(database, "usa") == repeated(6_993, 6))
            #expect(try await brought(database, "chn") == repeated(6_993, 5) + [7_492])
            #expect(try await brought(database, "china") == repeated(6_993, 12) + [8_791, 8_791])
            let question = try database.question(.proceeds, "2026-01-01", by: .month)
            #expect(try await database.figures.answer(question).isTaxIncluded == true)
            #expect(
                try await database.figures.answer(database.question(.net, "2026-01-01")).isTaxIncluded == nil)

            try await database.apply(
                """
                program:
                  - {from: 2026-01-11, program: small_business}
                  - {from: 2026-03-15, apps: [com.example.app], program: standard}
                rates:
                  - {from: 2026-01-06, first_year: 30%}
                  - {from: 2026-01-06, program: small_business, first_year: 15%, one_time: 10%}
                  - {from: 2026-03-15, storefronts: [CHN, DEU], first_year: 25%, later_years: 12%}
                taxes:
                  - {from: 2026-01-10, storefronts: [DEU], included: 15.966%}
                  - {from: 2026-03-15, storefronts: [DEU, CHN], included: 0%}
                """)
            try await database.settle()
            // Before the first rate there is no estimate.
            #expect(try await brought(database, "usa") == [nil, 6_993, 6_993, 8_991, 8_991, 6_993])
            #expect(try await brought(database, "none") == [nil, 6_993, 6_993, 8_991, 8_991, 6_993])
            #expect(try await brought(database, "chn") == [nil, 6_993, 6_993, 8_991, 8_991, 7_492])
            // 9,990 × 0.84034 × 0.7 is 5,876.49…, and × 0.9 is 7,555.49…
            #expect(try await brought(database, "deu") == [nil, 6_993, 5_876, 7_555, 7_555, 7_492])
            // Of three storefronts no tax is known.
            #expect(try await database.figures.answer(question).isTaxIncluded == true)
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("tax is said to be in amounts where a storefront that sold has none on the first of the month")
    func taxes() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Self.coin("deu", 40) { $0.storefront = "DEU" }, Self.coin("usa", 100) { $0.storefront = "USA" })
            let rate = "rates:\n  - {from: 2008-07-10, first_year: 30%}\ntaxes:\n"
            for (taxes, isIncluded) in [
                ("  - {from: 2026-02-01, storefronts: [DEU], included: 15.966%}", false),
                ("  - {from: 2026-02-02, storefronts: [DEU], included: 15.966%}", true),
                ("  - {from: 2026-01-01, storefronts: [USA], included: 0%}", true),
            ] {
                _ = try await database.apply(rate + taxes + "\n")
                try await database.settle()
                let question = try database.question(.proceeds, "2026-02-01", "2026-03-31", by: .month)
                #expect(try await database.figures.answer(question).isTaxIncluded == isIncluded, "\(taxes)")
            }
            let april = try database.question(.proceeds, "2026-04-01", "2026-04-30", by: .month)
            #expect(try await database.figures.answer(april).isTaxIncluded == false)
        }
    }

    @Test("refunds take back what the sale brought, in part and in full, and reversals give it again")
    func refunds() async throws {
        try await FigureDatabase.with { database in
            func answer() async throws -> [String] {
                try await database.settle()
                #expect(try await database.differences().isEmpty)
                let question = try database.question(.proceeds, "2026-01-01", "2026-01-31", by: .month)
                let rows = try await database.rows(FigureRowQuestion(question), limit: 2)
                let answer = try await database.figures.answer(question)
                let sum = answer.cells.reduce(0) { $0 + (Figure.proceeds.columns[0].value($1.sums) ?? 0) }
                #expect(rows.reduce(0) { $0 + ($1.amount ?? 0) } == sum)
                return answer.lines
            }
            try await database.hear(Self.coin("1", 1), Self.coin("2", 1, price: 0))
            #expect(try await answer() == ["2026-01-01 USD 6993 6993 0 1 0"])
            // 30 % of the price are 2,997; 2,097.9 of it came.
            try await database.hear(
                Self.coin("1", 1, signed: 3) {
                    ($0.revocationDate, $0.revocationType, $0.revocationPercentage) = (
                        Shop.day(3), .refundProrated, 30_000
                    )
                })
            #expect(try await answer() == ["2026-01-01 USD 4895 6993 2098 1 0"])
            try await database.hear(Self.coin("1", 1, signed: 5))
            #expect(try await answer() == ["2026-01-01 USD 6993 6993 0 1 0"])
            try await database.hear(Self.coin("1", 1, signed: 8) { $0.revocationDate = Shop.day(8) })
            #expect(try await answer() == ["2026-01-01 USD 0 6993 6993 1 0"])
            // Without a signed price nothing is estimated, and a part that Apple does not state is not known.
            try await database.hear(
                Self.coin("3", 1, price: nil) { $0.currency = nil },
                Self.coin("4", 1, signed: 9) { ($0.revocationDate, $0.revocationType) = (Shop.day(9), .refundProrated) }
            )
            #expect(
                try await answer() == ["2026-01-01 none 0 0 0 1 1", "2026-01-01 USD 6993 13986 6993 2 0"])
        }
    }

    @Test("of rows a page is worked out, and not all that are behind it")
    func page() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Shop.entry("1", at: Shop.day(0)))
            // Each one's rate depends on all before it.
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    set local session_replication_role = replica;
                    insert into storehook.booked_transactions
                           (order_id, item, transaction_id, product_id, relation, is_within, starts_at, ends_at, price, currency, storefront,
                            quantity, is_trial, is_void, revoked_share, refunded, tier_rank, heard_at, changed_at)
                    select t.order_id, 'x' || n, 'x' || n, t.product_id, 'renewal', false, t.starts_at + n * interval '20 seconds',
                           t.starts_at + (n + 1) * interval '20 seconds', 1000, 'USD', 'USA', 1, false, false, 0, 0, 1, t.heard_at, t.changed_at
                      from storehook.booked_transactions t cross join generate_series(1, 1500) n;
                    """)
            }
            let asked = FigureRowQuestion(try database.question(.proceeds, "2026-01-01"))
            func read(_ limit: Int) async throws -> (rows: [FigureRow], time: Duration) {
                let start = ContinuousClock.now
                let page = try await database.figures.rows(asked, limit: limit)
                return (page.elements, ContinuousClock.now - start)
            }
            let (all, page) = (try await read(1_501), try await read(2))
            #expect(all.rows.count == 1_501 && page.rows == Array(all.rows.prefix(2)))
            #expect(page.time * 5 < all.time, "\(page.time) of \(all.time)")
        }
    }

    @Test("in one currency a sale and its refund have the rate of the sale's day")
    func converted() async throws {
        try await FigureDatabase.with { database in
            try await database.take("2026-01-02 USD 2", "2026-01-05 USD 4")
            try await database.hear(
                Self.coin("1", 1), Self.coin("2", 1),
                Self.coin("1", 1, signed: 4) { $0.revocationDate = Shop.day(4) }, Self.coin("3", 20, price: 10_000))
            try await database.settle()
            func answer() async throws -> [String] {
                try await database.lines(.proceeds, "2026-01-01", "2026-01-31", by: .month, in: "EUR")
            }
            // 6,993 / 2 is 3,496.5.
            let expected = ["2026-01-01 EUR 3496 6992 3496 2 0", "2026-01-01 USD ! 7000 7000 0 1 0"]
            #expect(try await answer() == expected)
            try await database.settle(currency: "EUR")
            #expect(try await answer() == expected)
            #expect(try await database.differences().isEmpty)
        }
    }
}

extension FigureDatabase {
    /// All rows of proceeds in Production.
    func proceeds() async throws -> [FigureRow] {
        try await rows(FigureRowQuestion(question(.proceeds, "2020-01-01", "2030-12-31", by: .month)))
    }

    /// Applies a commission table.
    @discardableResult
    func apply(_ commission: String) async throws -> FigureFileApplication {
        try await CommissionStore(site.pool).apply(commission, by: "cli:test")
    }

    /// Hears messages one after the other, and numbers the orders.
    func hear(contentsOf entries: [LedgerEntry]) async throws {
        for entry in entries { try await site.apply([entry]) }
        try await site.number()
    }
}
