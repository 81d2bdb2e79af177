import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import Testing

/// What the figures of small shops are, worked by hand.
struct FigureAnswerTests {
    /// A coin of 10.00 on a day of January 2026, and perhaps what Apple gave back of it.
    private static func coin(
        _ id: String, _ day: Int64, price: Int64? = 10_000, signed: Int64? = nil, revoked: Int64? = nil,
        share: Int64? = nil,
        type: RevocationType? = nil, app: String = Shop.app,
        environment: String = "Production", _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        Shop.entry(
            id, at: Shop.day(day, hours: 12), days: nil, product: "coins", kind: .consumable, price: price,
            signed: Shop.day(signed ?? day, hours: 12), app: app, environment: environment
        ) { payload in
            payload.revocationDate = revoked.map { Shop.day($0, hours: 12) }
            (payload.revocationPercentage, payload.revocationType) = (share, type)
            change(&payload)
        }
    }

    @Test(
        "free ones, unpriced ones, refunds of a part and of an unknown amount, reversals, and what is revoked without money"
    )
    func measures() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Self.coin("1", 0), Self.coin("2", 0, price: 2_500),
                Self.coin("3", 0, price: nil) { $0.currency = nil }, Self.coin("4", 0, price: 0),
                // 30 % on the 4th, 80 % in all on the 6th, all taken back on the 9th.
                Self.coin("1", 0, signed: 3, revoked: 3, share: 30_000),
                Self.coin("1", 0, signed: 5, revoked: 5, share: 80_000),
                Self.coin("1", 0, signed: 8),
                // Of an unknown amount on the 4th.
                Self.coin("2", 0, price: 2_500, signed: 3, revoked: 3, type: .refundProrated),
                // No money, and one of what was free.
                Self.coin("5", 1, price: 700),
                Self.coin("5", 1, price: 700, signed: 2, revoked: 2, type: .familyRevoke),
                Self.coin("4", 0, price: 0, signed: 2, revoked: 2, type: .refundFull))
            try await database.settle()
            let (first, last) = ("2026-01-01", "2026-01-31")
            #expect(try await database.lines(.orders, first, last) == ["2026-01-01 4", "2026-01-02 1"])
            #expect(try await database.lines(.transactions, first, last) == ["2026-01-01 3 1 1", "2026-01-02 1 0 0"])
            #expect(
                try await database.lines(.gross, first, last) == [
                    "2026-01-01 none 0 1 1", "2026-01-01 USD 12500 2 0", "2026-01-02 USD 700 1 0",
                ])
            #expect(
                try await database.lines(.refunded, first, last) == [
                    "2026-01-04 USD 3000 2 0 1", "2026-01-06 USD 5000 1 0 0", "2026-01-09 USD -8000 0 1 0",
                ])
            #expect(
                try await database.lines(.net, first, last) == [
                    "2026-01-01 none 0 0 0", "2026-01-01 USD 12500 12500 0", "2026-01-02 USD 700 700 0",
                    "2026-01-04 USD -3000 0 3000", "2026-01-06 USD -5000 0 5000", "2026-01-09 USD 8000 0 -8000",
                ])
            // 0 of 13200 in money; 3 refunds less 1 reversal of 3 paid; of the purchases 1 is refunded, of an unknown amount.
            #expect(
                try await database.lines(.refundRate, first, last, by: .month) == [
                    "2026-01-01 none - 0 - 0 0 0", "2026-01-01 USD 0 66667 0 33333 0 13200",
                ])
            #expect(try await database.lines(.refundRate, "2026-01-04") == ["2026-01-04 USD - - - - 3000 0"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test(
        "values are apart by app, product, country and currency, and by environment; a caller of some apps gets these alone"
    )
    func splits() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Self.coin("1", 0), Self.coin("2", 0) { ($0.currency, $0.storefront) = ("EUR", "DEU") },
                Self.coin("3", 1) { ($0.currency, $0.storefront) = ("EUR", "FRA") },
                Shop.entry("4", at: Shop.day(1), price: 5_000), Self.coin("5", 0, price: 300, app: "com.example.other"),
                Self.coin("6", 0, price: 77, environment: "Sandbox"),
                Self.coin("7", 0) { ($0.currency, $0.storefront) = ("USD", nil) })
            try await database.settle()
            let cases: [(FigureQuestion.Split?, [String])] = [
                (nil, ["EUR 20000 2 0", "USD 25300 4 0"]),
                (
                    .app,
                    ["com.example.app EUR 20000 2 0", "com.example.app USD 25000 3 0", "com.example.other USD 300 1 0"]
                ),
                (.product, ["basic USD 5000 1 0", "coins EUR 20000 2 0", "coins USD 20300 3 0"]),
                (
                    .country,
                    ["none USD 10000 1 0", "DEU EUR 10000 1 0", "FRA EUR 10000 1 0", "USA USD 15300 3 0"]
                ),
                (.currency, ["EUR EUR 20000 2 0", "USD USD 25300 4 0"]),
            ]
            for (split, lines) in cases {
                let answered = try await database.lines(.gross, "2026-01-01", by: .month, split)
                #expect(Set(answered) == Set(lines.map { "2026-01-01 " + $0 }), "\(split.map { "\($0)" } ?? "none")")
                #expect(answered.count == lines.count)
            }
            #expect(
                try await database.lines(.orders, "2026-01-01", "2026-01-02", .country) == [
                    "2026-01-01 none 1", "2026-01-01 DEU 1", "2026-01-01 USA 2", "2026-01-02 FRA 1", "2026-01-02 USA 1",
                ])
            #expect(
                try await database.lines(.transactions, "2026-01-01", by: .day, .currency) == [
                    "2026-01-01 EUR 1 0 0", "2026-01-01 USD 3 0 0",
                ])
            #expect(try await database.lines(.gross, "2026-01-01", environment: "Sandbox") == ["2026-01-01 USD 77 1 0"])
            let scope: Set = ["com.example.other"]
            for split in [nil] + FigureQuestion.Split.ofRows.map(Optional.some) {
                for step in FigureQuestion.Step.always {
                    let lines = try await database.lines(.gross, "2026-01-01", by: step, split, apps: scope)
                    #expect(lines.count == 1 && lines[0].hasSuffix(" USD 300 1 0"), "\(lines)")
                }
            }
            #expect(try await database.lines(.gross, "2026-01-01", apps: []).isEmpty)
            let rows = try await database.rows(
                FigureRowQuestion(database.question(.gross, "2026-01-01", by: .month, apps: scope)))
            #expect(rows.map(\.bundleID) == ["com.example.other"])
        }
    }

    @Test(
        "an order that is shared after all counts nowhere, and again once a record says that it is the customer's own")
    func hidden() async throws {
        try await FigureDatabase.with { database in
            let paid = { (signed: Int64, ownership: OwnershipType) in
                Self.coin("1", 0, signed: signed, revoked: 2) { $0.inAppOwnershipType = ownership }
            }
            let figures: [Figure] = [.orders, .gross, .refunded, .net, .transactions]
            let lines = { try await Self.lines(of: figures, database) }
            try await database.hear(Self.coin("1", 0), paid(2, .purchased))
            try await database.settle()
            let before = try await lines()
            #expect(before.count == 6, "\(before)")
            try await database.hear(paid(3, .familyShared))
            try await database.settle()
            #expect(try await lines() == [])
            #expect(try await database.differences().isEmpty)
            try await database.hear(paid(4, .purchased))
            try await database.settle()
            #expect(try await lines() == before)
            #expect(try await database.differences().isEmpty)
        }
    }

    private static func lines(of figures: [Figure], _ database: FigureDatabase) async throws -> [String] {
        var lines: [String] = []
        for figure in figures { lines += try await database.lines(figure, "2026-01-01", "2027-12-31", by: .day) }
        return lines
    }

    @Test("late rows arrived more than 24 hours after their day had ended, and count on the day on which they arrived")
    func late() async throws {
        try await FigureDatabase.with(zone: "America/New_York") { database in
            // Noon UTC of 2026-01-01, 07:00 in New York: the day ends at 05:00 UTC of the 2nd, and 24 hours later on the 3rd.
            for id in ["1", "2", "3"] { try await database.hear(Self.coin(id, 0)) }
            try await database.hear(Self.coin("3", 0, signed: 1, revoked: 1), Self.coin("3", 0, signed: 2))
            let hear = { (id: String, transaction: String, refund: String, reversal: String) in
                try await database.site.pool.query(
                    """
                    update storehook.booked_transactions set heard_at = \(transaction)::text::timestamptz where transaction_id = \(id)
                    """)
                try await database.site.pool.query(
                    """
                    update storehook.booked_refunds set heard_at = (case place when 0 then \(refund) else \(reversal) end)::timestamptz
                     where item = \(id)
                    """)
            }
            let never = "2026-01-01 13:00Z"
            try await hear("1", "2026-01-03 05:00Z", never, never)
            try await hear("2", "2026-01-03 05:00:00.001Z", never, never)
            // A refund of the 2nd and a reversal of the 3rd, which both arrived on the 7th.
            try await hear("3", "2026-01-10 00:00Z", "2026-01-07 12:00Z", "2026-01-07 12:00Z")
            try await database.settle(in: "America/New_York")
            let lines = try await database.lines(.heardLate, "2026-01-01", "2026-12-31")
            #expect(
                lines == [
                    "2026-01-03 USD 10000 1 0 0", "2026-01-07 USD 0 0 1 1", "2026-01-09 USD 10000 1 0 0",
                ])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("more than 10,000 values are refused, of sums and of cells; that many are answered")
    func tooMany() async throws {
        try await FigureDatabase.with { database in
            let most = FigureQuestion.mostCells
            try await database.site.pool.query(
                """
                with cells as (
                    insert into storehook.figure_cells
                           (zone, day, measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit, count)
                    select 'UTC', '2026-01-01', m, 'Production', 'app', 'p' || i, 'USA', 'USD', '2026-01-01', 1, 1
                      from generate_series(1, \(Int64(most))) i cross join unnest('{sale,refund,reversal,refunded_sale}'::text[]) m
                    returning *
                )
                insert into storehook.figure_sums
                select 'month_product', zone, day, measure, environment, bundle_id, product_id, '', currency, count, 0, 0, 1 from cells
                union all
                select 'all_country', zone, day, measure, environment, '', '', storefront, currency, sum(count), 0, 0, sum(count)
                  from cells group by zone, day, measure, environment, storefront, currency
                """)
            for step in FigureQuestion.Step.always {
                #expect(try await database.lines(.refundRate, "2026-01-01", by: step, .product).count == most)
            }
            try await database.site.pool.query(
                """
                with cells as (
                    insert into storehook.figure_cells
                           (zone, day, measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit, count)
                    values ('UTC', '2026-01-01', 'sale', 'Production', 'app', 'last', 'USA', 'USD', '2026-01-01', 1, 1)
                    returning *
                )
                insert into storehook.figure_sums
                select 'month_product', zone, day, measure, environment, bundle_id, product_id, '', currency, count, 0, 0, 1 from cells
                """)
            for step in FigureQuestion.Step.always {
                await #expect(throws: TooManyCells.self) {
                    _ = try await database.lines(.refundRate, "2026-01-01", by: step, .product)
                }
                #expect(try await database.lines(.refundRate, "2026-01-01", by: step, .country).count == 1)
            }
        }
    }

    @Test("products are gathered into plans before they are counted: many products of few plans are answered")
    func manyProducts() async throws {
        try await FigureDatabase.with { database in
            try await database.site.pool.query(
                """
                with cells as (
                    insert into storehook.figure_cells
                           (zone, day, measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit, count)
                    select 'UTC', '2026-01-01', 'sale', 'Production', 'app', 'p' || i, 'USA', 'USD', '2026-01-01', 1, 1
                      from generate_series(1, \(Int64(FigureQuestion.mostCells + 1))) i
                    returning *
                )
                insert into storehook.figure_sums
                select 'month_product', zone, day, measure, environment, bundle_id, product_id, '', currency, count, 0, 0, 1 from cells
                """)
            for step in FigureQuestion.Step.always {
                #expect(
                    try await database.lines(.gross, "2026-01-01", by: step, .plan)
                        == ["2026-01-01 none USD 10001 10001 0"])
                await #expect(throws: TooManyCells.self) {
                    _ = try await database.lines(.gross, "2026-01-01", by: step, .product)
                }
            }
            try await database.take("2026-01-01 USD 2")
            // A half is rounded to the even one.
            #expect(
                try await database.lines(.gross, "2026-01-01", by: .month, .plan, in: "EUR")
                    == ["2026-01-01 none EUR 0 10001 0"])
        }
    }

    @Test("more sums than are read one by one are added where they are")
    func manySums() async throws {
        try await FigureDatabase.with { database in
            try await database.site.pool.query(
                """
                insert into storehook.figure_sums
                select 'plain_month', 'UTC', '2026-01-01', 'sale', 'Production', 'app' || i, '', '', 'USD', 1, 0, 0, 10
                  from generate_series(1, 200001) i
                """)
            #expect(
                try await database.lines(.gross, "2026-01-01", by: .month) == ["2026-01-01 USD 2000010 200001 0"])
        }
    }

    @Test("after a release without sums of all apps, these are added up from the sums of each")
    func wideSums() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(
                Self.coin("1", 0), Self.coin("2", 1) { ($0.currency, $0.storefront) = ("EUR", "DEU") },
                Self.coin("3", 40, price: 300, app: "com.example.other"))
            try await database.settle()
            let (first, last) = ("2026-01-01", "2026-02-28")
            let countries = try await database.lines(.gross, first, last, by: .month, .country)
            #expect(
                countries == [
                    "2026-01-01 DEU EUR 10000 1 0", "2026-01-01 USA USD 10000 1 0", "2026-02-01 USA USD 300 1 0",
                ])
            let tables = try await database.tables()
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    delete from storehook.figure_sums where grain in ('all_country', 'all_day');
                    update storehook.figure_state set content = 5;
                    """)
            }
            #expect(try await database.lines(.gross, first, last, by: .month, .country).isEmpty)
            try await database.settle()
            #expect(try await database.tables() == tables)
            #expect(try await database.lines(.gross, first, last, by: .month, .country) == countries)
        }
    }
}
