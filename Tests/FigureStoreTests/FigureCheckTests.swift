import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// The check finds figures that were changed by hand, and mends them.
struct FigureCheckTests {
    /// Sales on the 1st and the 5th, a refund alone on the 9th, a reversal alone on the 20th, an order alone on the 15th, and what was heard of
    /// late alone on 2026-02-03.
    private static func fill(_ database: FigureDatabase) async throws {
        let coin = { (id: String, day: Int64, signed: Int64, revoked: Int64?) in
            Shop.entry(
                id, at: Shop.day(day), days: nil, product: "coins", kind: .consumable, price: 100,
                signed: Shop.day(signed)
            ) { $0.revocationDate = revoked.map { Shop.day($0) } }
        }
        try await database.hear(
            coin("1", 0, 0, nil), coin("2", 4, 4, nil), coin("1", 0, 8, 8), coin("1", 0, 19, nil),
            // First bought on the 15th, as its record says; the period itself begins on the 5th.
            Shop.entry("3", at: Shop.day(4), price: 7, first: Shop.day(14)))
        try await database.site.pool.query("update storehook.booked_transactions set heard_at = '2026-02-03 12:00Z'")
        try await database.site.pool.query("update storehook.booked_refunds set heard_at = at")
        try await database.settle()
    }

    private static let faults: [(table: String, statement: String)] = [
        ("figure_cells", "update storehook.figure_cells set count = count + 1 where day = '2026-01-01'"),
        ("figure_cells", "update storehook.figure_cells set unit = unit + 1 where measure = 'sale'"),
        ("figure_cells", "update storehook.figure_cells set unit = null where measure = 'refund'"),
        (
            "figure_cells",
            "update storehook.figure_cells set currency = 'CHF' where measure = 'sale' and day = '2026-01-05'"
        ),
        (
            "figure_cells",
            "update storehook.figure_cells set environment = 'Sandbox' where measure = 'order' and day = '2026-01-01'"
        ),
        ("figure_cells", "update storehook.figure_cells set rate_day = rate_day - 1 where measure = 'refund'"),
        (
            "figure_cells",
            "update storehook.figure_cells set day = '2025-06-01' where measure = 'sale' and day = '2026-01-05'"
        ),
        ("figure_cells", "delete from storehook.figure_cells where day = '2026-01-05'"),
        ("figure_cells", "delete from storehook.figure_cells where day = '2026-01-09'"),
        ("figure_cells", "delete from storehook.figure_cells where day = '2026-01-15'"),
        ("figure_cells", "delete from storehook.figure_cells where day = '2026-01-20'"),
        ("figure_cells", "delete from storehook.figure_cells where day = '2026-02-03'"),
        ("figure_cells", "delete from storehook.figure_cells"),
        (
            "figure_cells",
            "insert into storehook.figure_cells select zone, '2031-01-01', measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit, count from storehook.figure_cells"
        ),
        (
            "figure_cells",
            "insert into storehook.figure_cells select * from storehook.figure_cells where day = '2026-01-09'"
        ),
        ("cohort_cells", "update storehook.cohort_cells set retained = 0 where months = 0"),
        ("cohort_cells", "delete from storehook.cohort_cells where months = 1"),
        ("cohort_cells", "delete from storehook.cohort_cells"),
        (
            "cohort_cells",
            "insert into storehook.cohort_cells select zone, '2021-01-01', environment, bundle_id, months, due, retained from storehook.cohort_cells"
        ),
        ("value_cells", "update storehook.value_cells set unit = unit + 1"),
        ("value_cells", "update storehook.value_cells set cohort = cohort - 1, months = months + 1"),
        ("value_cells", "delete from storehook.value_cells"),
        (
            "value_cells",
            "insert into storehook.value_cells select zone, '2031-01-01', environment, bundle_id, cohort, months, currency, rate_day, unit, count from storehook.value_cells"
        ),
        ("value_sums", "update storehook.value_sums set amount = amount + 1 where months = 0"),
        ("value_sums", "delete from storehook.value_sums"),
        ("figure_sums", "update storehook.figure_sums set count = count + 1 where grain = 'month_product'"),
        (
            "figure_sums",
            "update storehook.figure_sums set amount = amount - 1 where grain = 'day' and period = '2026-01-09'"
        ),
        ("figure_sums", "update storehook.figure_sums set free = 1"),
        ("figure_sums", "update storehook.figure_sums set unknown = 1 where measure = 'sale'"),
        (
            "figure_sums",
            "update storehook.figure_sums set product_id = 'x' where grain = 'month_product' and measure = 'refund'"
        ),
        ("figure_sums", "delete from storehook.figure_sums where measure = 'order'"),
        ("figure_sums", "delete from storehook.figure_sums"),
        (
            "figure_sums",
            "insert into storehook.figure_sums select grain, zone, period - 400, measure, environment, bundle_id, product_id, storefront, currency, count, free, unknown, amount from storehook.figure_sums"
        ),
    ]

    /// By default one in three of the faults, chosen by chance.
    @Test("cells and sums that were changed by hand: the check names the table, and its repair mends them")
    func faults() async throws {
        var generator = SeededGenerator()
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            let right = try await database.tables()
            #expect(try await database.differences().isEmpty)
            for (table, statement) in sampled(Self.faults, oneIn: 3, using: &generator) {
                try await database.site.pool.withTransaction { try $0.executeScript(statement) }
                #expect(try await database.tables() != right, "\(statement)")
                let tables = try await database.differences().map(\.table)
                #expect(tables.contains(table), "\(statement): \(tables)")
                #expect(try await database.differences(repair: true).count == tables.count, "\(statement)")
                try await database.settle()
                #expect(try await database.tables() == right, "\(statement)")
                let left = try await database.differences()
                #expect(left.isEmpty, "\(statement): \(left)")
            }
        }
    }

    @Test("a day that waits to be summed does not differ")
    func pending() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            try await database.hear(Shop.coins("9", at: Shop.day(0, hours: 3)), Shop.coins("10", at: Shop.day(50)))
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("a change of the books without a mark is named and mended")
    func unmarked() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            let right = try await database.tables()
            for change in [
                "update storehook.booked_transactions set price = price + 1 where transaction_id = '2'",
                "update storehook.booked_refunds set amount = 1",
            ] {
                try await database.site.pool.query(PostgresQuery(unescaped: change))
                try await database.site.pool.query("delete from storehook.figure_marks")
                #expect(try await database.differences(repair: true).contains { $0.table == "figure_cells" })
                try await database.settle()
                #expect(try await database.differences().isEmpty)
                #expect(try await database.tables() != right)
            }
            #expect(try await !database.site.differences(repair: true).isEmpty)
            try await database.settle()
            #expect(try await database.tables() == right)
        }
    }

    @Test("a transaction that is lost takes its refund out of the figures, and brings it back when it is found again")
    func lost() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            try await database.hear(
                Shop.entry(
                    "8", at: Shop.day(2), days: nil, product: "coins", kind: .consumable, price: 30, signed: Shop.day(8)
                ) {
                    $0.revocationDate = Shop.day(8)
                })
            try await database.settle()
            let right = try await database.tables()
            #expect(try await database.lines(.refunded, "2026-01-09") == ["2026-01-09 USD 130 2 0 0"])
            try await database.site.pool.query("delete from storehook.booked_transactions where transaction_id = '1'")
            try await database.settle()
            #expect(try await database.lines(.refunded, "2026-01-09") == ["2026-01-09 USD 30 1 0 0"])
            #expect(try await database.differences().isEmpty)
            #expect(try await !database.site.differences(repair: true).isEmpty)
            try await database.site.pool.query(
                "update storehook.booked_transactions set heard_at = '2026-02-03 12:00Z' where transaction_id = '1'")
            try await database.settle()
            #expect(try await database.tables() == right)
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("a repair of sums that waits for a clock keeps what that clock adds")
    func repairBesideClock() async throws {
        try await FigureDatabase.with { database in
            try await Self.fill(database)
            try await database.site.pool.query(
                "update storehook.figure_sums set amount = amount + 1 where measure = 'sale'")
            try await database.hear(Shop.coins("9", at: Shop.day(0, hours: 3)))
            let held = try await HeldTransaction(
                in: database.site.database, "select id::text from storehook.figure_marks for update")
            async let sum = database.figures.sum(in: "UTC")
            let waiting = { (count: Int64) in
                try await eventually("\(count) wait for a lock") {
                    try await database.site.value(
                        """
                        select count(*) = \(count) from pg_stat_activity
                         where datname = current_database() and wait_event_type = 'Lock' and query not like '%pg_advisory%'
                        """)
                }
            }
            try await waiting(1)
            async let repaired = database.differences(repair: true)
            try await waiting(2)
            try await held.release()
            _ = try await sum
            #expect(try await !repaired.isEmpty)
            try await database.settle()
            #expect(try await database.differences().isEmpty)
            #expect(try await database.lines(.transactions, "2026-01-01") == ["2026-01-01 2 0 0"])
        }
    }
}
