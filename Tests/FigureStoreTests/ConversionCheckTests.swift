import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// The check finds converted sums that were changed by hand, and mends them.
struct ConversionCheckTests {
    private static func fill(_ database: FigureDatabase) async throws {
        try await database.take("2026-01-02 USD 2", "2026-01-05 USD 1.5")
        try await database.take("2026-01-05 USD 1.25")
        try await database.hear(
            Shop.coins("1", at: Shop.day(0)), Shop.coins("2", at: Shop.day(2)), Shop.coins("3", at: Shop.day(5)),
            Shop.entry("4", at: Shop.day(6), price: 0), Shop.entry("5", at: Shop.day(40), price: nil),
            Shop.entry("6", at: Shop.day(5)), Shop.entry("7", at: Shop.day(70)))
        try await database.settle(currency: "EUR")
    }

    private static let faults: [(table: String, statement: String)] = [
        (
            "currency_sums",
            "update storehook.currency_sums set amount = amount + 1 where grain = 'app_day' and not is_missing"
        ),
        ("currency_sums", "update storehook.currency_sums set amount = amount - 1 where grain = 'plain_month'"),
        ("currency_sums", "update storehook.currency_sums set count = count + 1 where grain = 'month_product'"),
        ("currency_sums", "update storehook.currency_sums set free = 7 where grain = 'month_country'"),
        ("currency_sums", "update storehook.currency_sums set amount = 7 where grain = 'all_country'"),
        ("currency_sums", "update storehook.currency_sums set unknown = unknown + 1 where grain = 'app_day'"),
        ("currency_sums", "update storehook.currency_sums set is_missing = not is_missing where grain = 'all_country'"),
        ("currency_sums", "update storehook.currency_sums set period = period - 400"),
        ("currency_sums", "update storehook.currency_sums set currency = 'CHF' where is_missing"),
        ("currency_sums", "update storehook.currency_sums set corrected_at = null"),
        ("currency_sums", "delete from storehook.currency_sums where grain = 'app_day'"),
        ("currency_sums", "delete from storehook.currency_sums where grain = 'plain_month'"),
        ("currency_sums", "delete from storehook.currency_sums"),
        ("currency_value_days", "update storehook.currency_value_days set day = day - 400"),
        ("currency_value_days", "update storehook.currency_value_days set shares = shares[2:]"),
        ("currency_values", "update storehook.currency_values set amount = amount + 1 where grain = 'cohort_day'"),
        ("currency_values", "update storehook.currency_values set amount = amount + 1 where grain = 'cohort'"),
        ("currency_values", "update storehook.currency_values set months = months + 1"),
        ("currency_values", "delete from storehook.currency_values where grain = 'cohort'"),
        ("currency_values", "delete from storehook.currency_values where grain = 'cohort_day'"),
        ("currency_values", "update storehook.currency_values set amount = 7 where grain = 'all_cohort_day'"),
        ("currency_values", "delete from storehook.currency_values"),
    ]

    /// By default one in three of the faults, chosen by chance.
    @Test("converted sums that were changed by hand: the check names the table, and its repair mends them")
    func faults() async throws {
        var generator = SeededGenerator()
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            let (right, plain) = (try await database.conversions(), try await database.tables())
            for part in [#""corrected_at": "20"#, #""is_missing": true"#, #"paid {"#] {
                #expect(right.contains { $0.contains(part) }, "\(part)")
            }
            #expect(try await database.differences().isEmpty)
            for (table, statement) in sampled(Self.faults, oneIn: 3, using: &generator) {
                try await database.site.pool.withTransaction { try $0.executeScript(statement) }
                #expect(try await database.conversions() != right, "\(statement)")
                let tables = try await database.differences().map(\.table)
                // Sums are compared with the kept days, too: they may differ where a day does.
                let others = Set(tables).subtracting([table])
                #expect(
                    others.isSubset(of: table == "currency_value_days" ? ["currency_values"] : []),
                    "\(statement): \(tables)")
                #expect(tables.contains(table), "\(statement): \(tables)")
                #expect(try await database.differences(repair: true).count == tables.count, "\(statement)")
                try await database.settle(currency: "EUR")
                #expect(try await database.conversions() == right, "\(statement)")
                let left = try await database.differences()
                #expect(left.isEmpty, "\(statement): \(left)")
            }
            #expect(try await database.tables() == plain)
        }
    }

    @Test("a rate that is changed by hand is named where days were converted by it; a day that waits does not differ")
    func rates() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            try await database.take("2026-01-02 USD 1.75")
            #expect(try await database.differences().isEmpty)
            try await database.settle(currency: "EUR")
            try await database.site.pool.query(
                "update storehook.exchange_rates set billionths = billionths + 1000000 where day = '2026-01-05'")
            let keys = try await database.differences(repair: true).map(\.key)
            #expect(keys.contains { $0.contains("2026-01-06 sale") }, "\(keys)")
            #expect(!keys.contains { $0.contains("2026-01-03 sale") }, "\(keys)")
            try await database.settle(currency: "EUR")
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("sums of a currency that is no longer kept wait to be deleted: they do not differ, and a repair leaves them")
    func leftover() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            let right = try await database.conversions()
            try await database.site.pool.query(
                """
                insert into storehook.currency_values
                select (jsonb_populate_record(v, '{"target": "GBP"}')).* from storehook.currency_values v
                """)
            let both = try await database.conversions()
            #expect(both.count > right.count)
            #expect(try await database.differences().isEmpty)
            try await database.site.pool.query(
                "update storehook.currency_values set amount = amount + 1 where target = 'EUR' and grain = 'cohort'")
            let tables = Set(try await database.differences(repair: true).map(\.table))
            #expect(tables == ["currency_values"])
            #expect(try await database.conversions() == both)
            try await database.settle(currency: "EUR")
            #expect(try await database.conversions() == right)
        }
    }
}
