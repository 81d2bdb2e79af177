import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import Testing

/// Converted sums that somebody changes by hand are named and mended.
struct ConversionCheckTests {
    private static func fill(_ database: FigureDatabase) async throws {
        try await database.take("2026-01-02 USD 2", "2026-01-05 USD 1.5")
        try await database.take("2026-01-05 USD 1.25")
        try await database.hear(
            Shop.coins("1", at: Shop.day(0)), Shop.coins("2", at: Shop.day(2)), Shop.coins("3", at: Shop.day(5)),
            Shop.entry("4", at: Shop.day(6), price: 0), Shop.entry("5", at: Shop.day(40), price: nil))
        try await database.settle(currency: "EUR")
    }

    private static let faults: [(table: String, statement: String)] = [
        (
            "converted_sums",
            "update storehook.converted_sums set amount = amount + 1 where grain = 'day' and not is_missing"
        ),
        ("converted_sums", "update storehook.converted_sums set amount = amount + 1 where grain = 'day_part'"),
        ("converted_sums", "update storehook.converted_sums set amount = amount - 1 where grain = 'plain_month'"),
        ("converted_sums", "update storehook.converted_sums set count = count + 1 where grain = 'month_product'"),
        ("converted_sums", "update storehook.converted_sums set free = 7 where grain = 'month_country'"),
        ("converted_sums", "update storehook.converted_sums set unknown = unknown + 1 where grain = 'day'"),
        ("converted_sums", "update storehook.converted_sums set is_missing = not is_missing where grain = 'day_part'"),
        ("converted_sums", "update storehook.converted_sums set period = period - 400"),
        ("converted_sums", "update storehook.converted_sums set currency = 'CHF' where is_missing"),
        ("converted_sums", "delete from storehook.converted_sums where grain = 'day'"),
        ("converted_sums", "delete from storehook.converted_sums where grain = 'plain_month'"),
        ("converted_sums", "delete from storehook.converted_sums"),
        ("corrected_conversions", "delete from storehook.corrected_conversions"),
        ("corrected_conversions", "update storehook.corrected_conversions set corrected_at = now() + interval '1 day'"),
        (
            "corrected_conversions",
            "insert into storehook.corrected_conversions select target, zone, '2027-01-01', measure, environment, bundle_id, corrected_at from storehook.corrected_conversions"
        ),
    ]

    @Test("somebody changes converted sums by hand: the check names the table, and they are right after its repair")
    func faults() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            let (right, plain) = (try await database.conversions(), try await database.tables())
            #expect(
                right.contains { $0.hasPrefix("corrected") } && right.contains { $0.contains(#""is_missing": true"#) })
            #expect(try await database.differences().isEmpty)
            for (table, statement) in Self.faults {
                try await database.site.pool.withTransaction { try $0.executeScript(statement) }
                #expect(try await database.conversions() != right, "\(statement)")
                let tables = try await database.differences().map(\.table)
                #expect(Set(tables) == [table], "\(statement): \(tables)")
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
            #expect(!keys.isEmpty && keys.allSatisfy { $0.contains("2026-01-06") }, "\(keys)")
            try await database.settle(currency: "EUR")
            #expect(try await database.differences().isEmpty)
        }
    }
}
