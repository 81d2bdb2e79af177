import AppStorePayloads
import FigureStore
import Figures
import OrderSupport
import PurchaseStore
import Testing

/// Figures by how long what was bought lasts.
struct PlanFigureTests {
    @Test("products of one plan are added, what was bought for good is lifetime, and each plan opens to its rows")
    func plans() async throws {
        try await FigureDatabase.with { database in
            func period(_ id: String, _ day: Int64, _ product: String, days: Int64, price: Int64) -> LedgerEntry {
                Shop.entry(id, at: Shop.day(day), days: days, product: product, price: price)
            }
            func once(_ id: String, _ product: String, _ kind: ProductType, price: Int64) -> LedgerEntry {
                Shop.entry(id, at: Shop.day(2), days: nil, product: product, kind: kind, price: price)
            }
            try await database.hear(
                period("1", 0, "basic", days: 30, price: 5_000), period("2", 1, "premium", days: 30, price: 7_000),
                period("3", 2, "yearly", days: 365, price: 48_000),
                // The catalog has no such product.
                period("4", 2, "gone", days: 30, price: 1_000),
                once("5", "forever", .nonConsumable, price: 90_000), once("6", "coins", .consumable, price: 2_000))
            try await database.settle()
            let (first, last) = ("2026-01-01", "2026-01-31")
            #expect(
                try await database.lines(.gross, first, last, by: .month, .plan) == [
                    "2026-01-01 none USD 1000 1 0", "2026-01-01 consumable USD 2000 1 0",
                    "2026-01-01 lifetime USD 90000 1 0", "2026-01-01 month USD 12000 2 0",
                    "2026-01-01 year USD 48000 1 0",
                ])
            #expect(
                try await database.lines(.orders, "2026-01-02", "2026-01-03", .plan) == [
                    "2026-01-02 month 1", "2026-01-03 none 1", "2026-01-03 consumable 1", "2026-01-03 lifetime 1",
                    "2026-01-03 year 1",
                ])
            // The revenue of a plan, its year's share of a month, and the subscriptions that pay it.
            #expect(
                try await database.lines(.mrr, "2026-01-10", by: .day, .plan) == [
                    "2026-01-10 none USD 1000 12000 1 0", "2026-01-10 month USD 12000 144000 2 0",
                    "2026-01-10 year USD 4000 48000 1 0",
                ])
            try await database.take("2026-01-01 USD 2")
            #expect(
                try await database.lines(.net, first, last, by: .month, .plan, in: "EUR") == [
                    "2026-01-01 none EUR 500 500 0", "2026-01-01 consumable EUR 1000 1000 0",
                    "2026-01-01 lifetime EUR 45000 45000 0", "2026-01-01 month EUR 6000 6000 0",
                    "2026-01-01 year EUR 24000 24000 0",
                ])
            for (plan, amounts) in [
                ("month", [5_000, 7_000]), ("lifetime", [90_000]), ("", [1_000]), ("week", []),
            ] as [(String, [Int64])] {
                let rows = try await database.rows(
                    FigureRowQuestion(database.question(.gross, first, last, by: .month), plan: plan))
                #expect(rows.map(\.amount) == amounts, "\(plan)")
            }
            #expect(throws: FigureQuestion.NoSplit.self) {
                try database.question(.active, first, last, by: .month, .plan).check()
            }
        }
    }
}
