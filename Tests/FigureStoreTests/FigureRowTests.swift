import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import Testing

/// The rows that figures count.
struct FigureRowTests {
    /// Things bought at one instant, among others, refunded at one instant, and partly taken back.
    private static func fill(_ database: FigureDatabase) async throws {
        func coin(
            _ id: String, _ hours: Int64, price: Int64? = 1_000, signed: Int64? = nil, revoked: Int64? = nil,
            share: Int64? = nil,
            _ place: (currency: String?, storefront: String?) = ("USD", "USA")
        ) -> LedgerEntry {
            Shop.entry(
                id, at: Shop.day(0, hours: hours), days: nil, product: "coins", kind: .consumable, price: price,
                signed: Shop.day(0, hours: signed ?? hours)
            ) {
                ($0.revocationDate, $0.revocationPercentage) = (revoked.map { Shop.day(0, hours: $0) }, share)
                ($0.currency, $0.storefront) = place
            }
        }
        for id in 1...9 {
            let place: (String?, String?) = id == 9 ? (nil, nil) : id % 2 == 0 ? ("USD", "USA") : ("EUR", "DEU")
            let price: Int64? = id == 9 ? nil : Int64(id) * 1_001
            // Several at one instant, some of them on the first and the last one of the day.
            let hours = [0, 0, 0, 5, 5, 23, 24, 24, 24][id - 1]
            try await database.hear(coin("\(id)", Int64(hours), price: price, place))
            if id % 3 != 0 {
                try await database.hear(
                    coin("\(id)", Int64(hours), price: price, signed: 30, revoked: 30, share: 33_333, place),
                    coin("\(id)", Int64(hours), price: price, signed: 30 + Int64(id), revoked: 31, share: 66_666, place)
                )
            }
            if id == 5 { try await database.hear(coin("5", Int64(hours), price: price, signed: 40, place)) }
        }
        try await database.hear(
            Shop.entry("20", at: Shop.day(0, hours: 7), price: 50),
            Shop.entry("21", at: Shop.day(0, hours: 7), price: 60))
        try await database.site.pool.query(
            "update storehook.booked_transactions set heard_at = starts_at + interval '3 days'")
        try await database.site.pool.query("update storehook.booked_refunds set heard_at = at + interval '3 days'")
        try await database.settle()
    }

    @Test("pages of any length are the same rows in the same order, of each figure")
    func pages() async throws {
        let others = FigureMeasure.trials + FigureMeasure.attempts + FigureMeasure.restores + FigureMeasure.customers
        let figures = Figure.allCases.filter {
            !$0.isStanding && !$0.isByMonthsLater && !$0.rowMeasures.contains { others.contains($0) }
        }
        #expect(figures.count >= 7)
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            for figure in figures {
                let asked = FigureRowQuestion(try database.question(figure, "2026-01-01", "2026-12-31"))
                let whole = try await database.rows(asked, limit: 10_000)
                #expect(whole.count >= 11, "\(figure): \(whole.count)")
                #expect(whole.map(\.at) == whole.map(\.at).sorted(), "\(figure)")
                #expect(Set(whole).count == whole.count, "\(figure)")
                for limit in [1, 2, 7, whole.count] {
                    #expect(try await database.rows(asked, limit: limit) == whole, "\(figure), \(limit)")
                }
                let page = try await database.figures.rows(asked, limit: 1)
                let cursor = try #require(page.next, "\(figure)")
                #expect(FigureStore.isCursor(cursor))
                let read = try #require(ListCursor(cursor.description, parts: FigureStore.cursorParts))
                #expect(try await database.figures.rows(asked, after: read, limit: 1).elements == [whole[1]])
                #expect(whole.allSatisfy { $0.order != nil }, "\(figure)")
            }
        }
    }

    @Test("the sum of the rows of a product, a country and a currency is the number, of each figure")
    func sums() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            let days = ("2026-01-01", "2026-12-31")
            for figure in [Figure.gross, .refunded, .net, .heardLate] {
                for split in [FigureQuestion.Split.product, .country, .currency] {
                    let answer = try await database.figures.answer(
                        database.question(figure, days.0, days.1, by: .month, split))
                    #expect(answer.cells.count >= 2, "\(figure)")
                    for cell in answer.cells {
                        var asked = FigureRowQuestion(
                            FigureQuestion(figure, FigureMonth(cell.period).days, by: .month), currency: cell.currency)
                        switch split {
                        case .product: asked.productID = cell.group
                        case .country: asked.storefront = cell.group
                        default: asked.currency = cell.group
                        }
                        let rows = try await database.rows(asked)
                        #expect(!rows.isEmpty, "\(figure) \(split) \(cell)")
                        #expect(
                            rows.reduce(0) { $0 + ($1.amount ?? 0) } == figure.columns[0].value(cell.sums),
                            "\(figure) \(split) \(cell)")
                        #expect(rows.allSatisfy { ($0.currency ?? "") == cell.currency })
                    }
                }
            }
        }
    }

    @Test("what stands is found in its order, by pages of any length", arguments: [Figure.mrr, .active])
    func standing(_ figure: Figure) async throws {
        try await FigureDatabase.with { database in
            for id in 0..<40 as Range<Int64> {
                try await database.hear(Shop.entry("\(id)", at: Shop.day(0, hours: id), days: 400, price: 1_000 + id))
            }
            try await database.hear(Shop.entry("rare", at: Shop.day(3), days: 400, product: "premium"))
            let asked = FigureRowQuestion(try database.question(figure, "2026-01-01", "2026-01-31", by: .month))
            let whole = try await database.rows(asked)
            #expect(whole.count == 41 && whole.map(\.at) == whole.map(\.at).sorted(by: >))
            for limit in [1, 7, 40, 41] {
                #expect(try await database.rows(asked, limit: limit) == whole, "\(limit)")
            }
            var rare = asked
            rare.productID = "premium"
            #expect(try await database.figures.rows(rare, limit: 1).elements.map(\.transactionID) == ["rare"])
            let early = FigureRowQuestion(try database.question(figure, "2026-01-01"))
            #expect(try await database.rows(early, limit: 5).count == 24, "those that began on this day")
        }
    }

    @Test("rows of a day are those from its beginning to its end, also rows that are not summed yet")
    func edges() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            let asked = FigureRowQuestion(try database.question(.gross, "2026-01-01"))
            #expect(
                try await database.rows(asked).compactMap(\.transactionID).sorted() == [
                    "1", "2", "20", "21", "3", "4", "5", "6",
                ])
            try await database.hear(Shop.coins("30", at: Shop.day(0, hours: 1)))
            #expect(try await database.rows(asked).count == 9)
            let none = FigureRowQuestion(asked.question, currency: "")
            #expect(try await database.rows(none).isEmpty)
            let next = FigureRowQuestion(
                try database.question(.gross, "2026-01-02"), productID: "coins", storefront: "", currency: "")
            #expect(try await database.rows(next).map(\.transactionID) == ["9"])
        }
    }

    @Test("what is no cursor of rows is none")
    func cursors() {
        let parts = ["1", "2", "t3", "0", "sale"]
        #expect(FigureStore.isCursor(ListCursor(behind: parts)))
        for (place, wrong) in [(0, "x"), (0, "9223372036854775807"), (1, ""), (3, "3000000000"), (4, "sales")] {
            var broken = parts
            broken[place] = wrong
            #expect(!FigureStore.isCursor(ListCursor(behind: broken)), "\(broken)")
        }
        #expect(!FigureStore.isCursor(ListCursor(behind: Array(parts.prefix(4)))))
    }
}
