import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// Which day an instant is on.
struct FigureZoneTests {
    /// A coin, bought at an instant like `2026-03-28T23:00:00Z`.
    private static func coin(_ id: String, _ instant: String, price: Int64) throws -> LedgerEntry {
        let at = try #require(Timestamp(iso8601: instant))
        return Shop.entry(id, at: at, days: nil, product: "coins", kind: .consumable, price: price)
    }

    /// Hears coins of 1, 10, 100, … at instants.
    private static func hear(_ instants: [String], _ database: FigureDatabase) async throws {
        var price: Int64 = 1
        for (place, instant) in instants.enumerated() {
            try await database.hear(coin("\(place + 1)", instant, price: price))
            price *= 10
        }
    }

    private struct Edge: Sendable, CustomStringConvertible {
        var zone: String
        var about: String
        var instants: [String]
        /// The gross of the days on which any is.
        var days: [String]
        var description: String { "\(zone), \(about)" }
    }

    private static let all = [
        Edge(
            zone: "Europe/Berlin", about: "a day of 23 hours",
            instants: [
                "2026-03-28T22:59:59.999Z", "2026-03-28T23:00:00Z", "2026-03-29T21:59:59.999Z", "2026-03-29T22:00:00Z",
            ],
            days: ["2026-03-28 1", "2026-03-29 110", "2026-03-30 1000"]),
        Edge(
            zone: "Europe/Berlin", about: "a day of 25 hours",
            instants: [
                "2026-10-24T21:59:59.999Z", "2026-10-24T22:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z",
                "2026-10-25T22:59:59.999Z", "2026-10-25T23:00:00Z",
            ], days: ["2026-10-24 1", "2026-10-25 11110", "2026-10-26 100000"]),
        Edge(
            zone: "Asia/Kolkata", about: "half an hour: one hour of the clock lies in two days",
            instants: [
                "2026-01-31T18:29:59.999Z", "2026-01-31T18:30:00Z", "2026-02-01T18:29:00Z", "2026-02-01T18:31:00Z",
            ],
            days: ["2026-01-31 1", "2026-02-01 110", "2026-02-02 1000"]),
        Edge(
            zone: "Asia/Kathmandu", about: "a quarter of an hour",
            instants: ["2026-01-31T18:14:59.999Z", "2026-01-31T18:15:00Z"], days: ["2026-01-31 1", "2026-02-01 10"]),
        Edge(
            zone: "Atlantic/Azores", about: "midnight comes twice",
            instants: [
                "2026-10-24T23:59:59.999Z", "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z",
                "2026-10-26T00:59:59.999Z", "2026-10-26T01:00:00Z",
            ], days: ["2026-10-24 1", "2026-10-25 11110", "2026-10-26 100000"]),
        Edge(
            zone: "Asia/Beirut", about: "midnight is left out, and the last hour comes twice",
            instants: [
                "2026-03-28T21:59:59.999Z", "2026-03-28T22:00:00Z", "2026-03-29T20:59:59.999Z", "2026-03-29T21:00:00Z",
                "2026-10-24T20:30:00Z", "2026-10-24T21:30:00Z", "2026-10-24T22:00:00Z",
            ], days: ["2026-03-28 1", "2026-03-29 110", "2026-03-30 1000", "2026-10-24 110000", "2026-10-25 1000000"]),
    ]

    @Test(
        "each instant is on its day of the zone, in the answers by day and by month and among the rows", arguments: all)
    private func edges(_ edge: Edge) async throws {
        try await FigureDatabase.with(zone: edge.zone) { database in
            try await Self.hear(edge.instants, database)
            try await database.settle(in: edge.zone)
            let days = try await database.lines(.gross, "2026-01-01", "2026-12-31").map { $0.split(separator: " ") }
            #expect(days.map { "\($0[0]) \($0[2])" } == edge.days)
            for day in edge.days {
                let (name, gross) = (String(day.prefix(10)), day.dropFirst(11))
                let rows = try await database.rows(FigureRowQuestion(database.question(.gross, name)))
                #expect("\(rows.reduce(0) { $0 + ($1.amount ?? 0) })" == gross, "\(name)")
                #expect(
                    try await database.rows(FigureRowQuestion(database.question(.orders, name)), limit: 1).count
                        == gross.filter { $0 == "1" }.count)
            }
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test(
        "after a new zone of the catalog the old answers stand and name theirs, changes too, until the new ones are summed"
    )
    func newZone() async throws {
        try await FigureDatabase.with { database in
            // 20:00 UTC is the next day in Tokyo.
            try await Self.hear(["2026-01-31T20:00:00Z", "2026-05-31T20:00:00Z"], database)
            try await database.settle()
            let months = { (database: FigureDatabase) in
                try await database.lines(.gross, "2026-01-01", "2026-12-31", by: .month)
            }
            let old = ["2026-01-01 USD 1 1 0", "2026-05-01 USD 10 1 0"]
            #expect(try await months(database) == old)

            #expect(try await database.figures.isDue(in: "Asia/Tokyo"))
            #expect(try await database.figures.sum(in: "Asia/Tokyo"))
            let question = try database.question(.gross, "2026-01-01", "2026-12-31", by: .month)
            #expect(try await database.figures.answer(question).zone == "UTC")
            #expect(try await months(database) == old)
            // Of a day that is summed in the new zone already or not: both stay up to date.
            try await database.hear(
                Self.coin("3", "2026-01-31T21:00:00Z", price: 100), Self.coin("4", "2026-11-25T20:00:00Z", price: 7))
            #expect(try await database.figures.sum(in: "Asia/Tokyo"))
            #expect(try await database.figures.answer(question).zone == "UTC")
            #expect(
                try await months(database) == [
                    "2026-01-01 USD 101 2 0", "2026-05-01 USD 10 1 0", "2026-11-01 USD 7 1 0",
                ])

            try await database.settle(in: "Asia/Tokyo")
            #expect(try await database.figures.answer(question).zone == "Asia/Tokyo")
            #expect(
                try await months(database) == [
                    "2026-02-01 USD 101 2 0", "2026-06-01 USD 10 1 0", "2026-11-01 USD 7 1 0",
                ])
            #expect(try await database.lines(.gross, "2026-11-26") == ["2026-11-26 USD 7 1 0"])
            try await Self.expectOnly("Asia/Tokyo", database)
        }
    }

    @Test("a zone that is changed back before its days are summed leaves nothing, and may come again")
    func back() async throws {
        try await FigureDatabase.with { database in
            try await Self.hear(["2026-01-31T20:00:00Z", "2026-05-31T20:00:00Z"], database)
            try await database.settle()
            let tables = try await database.tables()
            for _ in 0..<3 {
                #expect(try await database.figures.sum(in: "Asia/Tokyo"))
                #expect(try await database.figures.sum(in: "Asia/Kolkata"))
                _ = try await database.figures.sum(in: "UTC")
                #expect(try await database.site.texts("select next_zone from storehook.figure_state") == ["-"])
            }
            try await database.settle()
            #expect(try await database.tables() == tables)
            try await Self.expectOnly("UTC", database)
            // What changes while another zone is begun and left is in its figures when it comes again.
            let zones: PostgresQuery = "select distinct zone from storehook.figure_cells order by 1"
            while try await database.site.texts(zones) != ["Asia/Tokyo", "UTC"] {
                #expect(try await database.figures.sum(in: "Asia/Tokyo"))
            }
            _ = try await database.figures.sum(in: "Asia/Kolkata")
            try await database.hear(Self.coin("3", "2026-05-31T21:00:00Z", price: 100))
            try await database.settle(in: "Asia/Tokyo")
            #expect(
                try await database.lines(.gross, "2026-01-01", "2026-12-31", by: .month) == [
                    "2026-02-01 USD 1 1 0", "2026-06-01 USD 110 2 0",
                ])
            try await Self.expectOnly("Asia/Tokyo", database)
        }
    }

    @Test("a zone begins once writers end in time; until then writers go on, and changes are summed in the old zone")
    func heldUp() async throws {
        try await FigureDatabase.with { database in
            try await Self.hear(["2026-01-31T20:00:00Z"], database)
            try await database.settle()
            let held = try await HeldTransaction(
                in: database.site.database,
                "insert into storehook.figure_marks (day) values ('2026-01-31') returning id::text")
            let nextZone: PostgresQuery = "select next_zone from storehook.figure_state"
            for _ in 0..<2 {
                #expect(try await database.figures.sum(in: "Asia/Tokyo"))
                #expect(try await database.site.texts(nextZone) == ["-"])
            }
            try await database.hear(Self.coin("2", "2026-01-31T21:00:00Z", price: 10))
            #expect(try await database.figures.sum(in: "Asia/Tokyo"))
            #expect(try await database.lines(.gross, "2026-01-31") == ["2026-01-31 USD 11 2 0"])
            try await held.release()
            try await database.settle(in: "Asia/Tokyo")
            #expect(
                try await database.lines(.gross, "2026-01-01", "2026-12-31", by: .month) == ["2026-02-01 USD 11 2 0"])
            try await Self.expectOnly("Asia/Tokyo", database)
        }
    }

    @Test("what is left of a zone is deleted in portions before it begins again, while changes are summed")
    func leftOver() async throws {
        try await FigureDatabase.with { database in
            try await Self.hear(["2026-01-31T20:00:00Z"], database)
            try await database.site.pool.query(
                """
                insert into storehook.figure_cells
                       (zone, day, measure, environment, bundle_id, product_id, storefront, currency, rate_day, unit, count)
                select 'Asia/Tokyo', '2025-01-01', 'sale', 'Production', 'app', 'p' || i, 'USA', 'USD', '2025-01-01', 1, 1
                  from generate_series(1, 50000) i
                """)
            #expect(try await database.figures.sum(in: "Asia/Tokyo"))
            let state: PostgresQuery = """
                select concat_ws(' ', next_zone, (select count(*) from storehook.figure_cells where zone = 'Asia/Tokyo'))
                  from storehook.figure_state
                """
            #expect(try await database.site.texts(state) == ["10000"])
            #expect(try await database.lines(.gross, "2026-01-31") == ["2026-01-31 USD 1 1 0"])
            try await database.settle(in: "Asia/Tokyo")
            #expect(try await database.lines(.gross, "2026-02-01") == ["2026-02-01 USD 1 1 0"])
            try await Self.expectOnly("Asia/Tokyo", database)
        }
    }

    /// Nothing is left of other zones, and nothing is due.
    private static func expectOnly(_ zone: String, _ database: FigureDatabase) async throws {
        #expect(try await !database.figures.isDue(in: zone))
        #expect(
            try await database.site.texts(
                """
                select zone from storehook.figure_cells union select zone from storehook.figure_sums where count <> 0
                union select zone from storehook.cohort_cells union select zone from storehook.value_cells
                union select zone from storehook.value_sums where count <> 0
                """)
                == [zone])
        #expect(try await database.differences().isEmpty)
    }
}
