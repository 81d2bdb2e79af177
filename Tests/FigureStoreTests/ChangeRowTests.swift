import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// Pages of the rows behind changes of recurring revenue, which work out no more than they need.
struct ChangeRowTests {
    private static func period(
        _ line: String, _ id: String, _ day: Int64, days: Int64 = 30, _ product: String = "basic", first: Int64 = 0,
        price: Int64 = 9_990, app: String = Shop.app,
        _ place: (currency: String?, storefront: String?) = ("USD", "USA")
    ) -> LedgerEntry {
        Shop.entry(
            line, id, at: Shop.day(day, hours: 12), days: days, product: product, renewal: line != id, price: price,
            first: Shop.day(first, hours: 12), app: app
        ) { ($0.currency, $0.storefront) = place }
    }

    /// The rows of churn in January, by pages of one row.
    private static func churn(_ database: FigureDatabase) async throws -> [String] {
        let asked = FigureRowQuestion(try database.question(.churn, "2026-01-01", "2026-01-31", by: .month))
        return try await database.rows(asked, limit: 1).map {
            $0.measure == .customerBackSoon ? "back \($0.transactionID ?? "-")" : "lost \($0.transactionID ?? "-")"
        }
    }

    @Test("a customer that is back soon is a row before its day is summed, and after it")
    func backSoon() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Self.period("1", "1", 0, days: 10), Self.period("2", "2", 1, days: 25, first: 1),
                Self.period("3", "3", 2, first: 2))
            try await database.settle()
            #expect(try await Self.churn(database) == ["lost 1", "lost 2"])
            try await database.hear(Self.period("1", "4", 20))
            // Its day has a mark, and no sum says it.
            #expect(
                try await database.site.value("select count(*) from storehook.figure_marks", as: Int64.self) > 0)
            #expect(
                try await database.site.value(
                    "select count(*) from storehook.figure_cells where measure = 'customer_back_soon'", as: Int64.self)
                    == 0)
            #expect(try await Self.churn(database) == ["lost 1", "back 4", "lost 2"])
            try await database.settle()
            #expect(try await Self.churn(database) == ["lost 1", "back 4", "lost 2"])
        }
    }

    @Test("days that this release has not summed yet have their rows")
    func unsummed() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.period("1", "1", 0, days: 10), Self.period("1", "4", 20))
            try await database.settle()
            let statements = [
                "delete from storehook.figure_sums", "delete from storehook.figure_marks",
                "update storehook.figure_state set content = 1",
            ]
            for statement in statements {
                try await database.site.pool.query(PostgresQuery(unescaped: statement))
            }
            #expect(try await Self.churn(database) == ["lost 1", "back 4"])
        }
    }

    @Test(
        "narrowed pages are those of all rows, in their order",
        arguments: sampled([Figure.mrrMovements, .churn, .retention, .orders, .gross]))
    func narrowed(_ figure: Figure) async throws {
        try await FigureDatabase.with { database in
            for line in 0..<12 as Range<Int64> {
                let place: (String?, String?) = line % 3 == 0 ? ("EUR", "DEU") : ("USD", "USA")
                let app = line % 4 == 0 ? "com.example.other" : Shop.app
                func period(_ id: Int64, _ day: Int64, _ product: String, price: Int64 = 9_990) -> LedgerEntry {
                    Self.period(
                        "\(line)", "\(id == 0 ? line : 100 * (line + 1) + id)", line / 2 + day, product,
                        first: line / 2,
                        price: price, app: app, place)
                }
                // Each renews, with another product or at another price, stops, and is back.
                try await database.hear(
                    period(0, 0, "basic"), period(1, 30, "basic"),
                    period(2, 60, line % 2 == 0 ? "premium" : "basic", price: 9_990 + line % 5),
                    period(3, 95, "premium"))
            }
            try await database.settle()
            let asked = FigureRowQuestion(try database.question(figure, "2026-01-01", "2026-05-31", by: .month))
            let whole = try await database.rows(asked)
            #expect(whole.count >= 12, "\(whole.count)")
            func same(
                _ what: String, _ change: (inout FigureRowQuestion) -> Void, _ isOne: (FigureRow) -> Bool
            ) async throws {
                var narrowed = asked
                change(&narrowed)
                let expected = whole.filter(isOne)
                for limit in [1, 4, 100] {
                    #expect(try await database.rows(narrowed, limit: limit) == expected, "\(what), \(limit)")
                }
            }
            for product in ["basic", "premium", "none"] {
                try await same(product, { $0.productID = product }, { $0.productID == product })
            }
            try await same("country", { $0.storefront = "DEU" }, { $0.storefront == "DEU" })
            try await same("currency", { $0.currency = "EUR" }, { $0.currency == "EUR" })
            try await same("app", { $0.question.apps = [Shop.app] }, { $0.bundleID == Shop.app })
            try await same("no currency", { $0.currency = "" }, { $0.currency == nil })
        }
    }
}
