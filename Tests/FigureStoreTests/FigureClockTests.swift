import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// How figures come up to date, beside writers and other clocks.
struct FigureClockTests {
    private static func coin(_ id: String, _ day: Int64 = 0, price: Int64 = 10) -> LedgerEntry {
        Shop.entry(id, at: Shop.day(day, hours: 12), days: nil, product: "coins", kind: .consumable, price: price)
    }

    private static func standing(
        _ database: FigureDatabase, _ day: String, by step: FigureQuestion.Step = .day, apps: Set<String>? = nil
    ) async throws -> FigureAnswer.Standing? {
        let answer = try await database.figures.answer(database.question(.gross, day, by: step, apps: apps))
        return answer.standings[answer.periods[0]]
    }

    /// Waits until a statement waits for a lock.
    private static func waiting(_ database: FigureDatabase) async throws {
        try await eventually("a statement waits for a lock") {
            try await database.site.value(
                """
                select exists (select from pg_stat_activity
                                where datname = current_database() and wait_event_type = 'Lock' and query not like '%pg_advisory%')
                """)
        }
    }

    @Test("a day that is marked twice is counted once, and what is written anew without a change is not marked")
    func twice() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.coin("1"), Self.coin("2", price: 100))
            try await database.site.pool.query(
                """
                insert into storehook.figure_marks (hour, day)
                select timestamptz '2026-01-01 12:00Z', null::date from generate_series(1, 50) union all
                select null, date '2026-01-01' from generate_series(1, 50)
                """)
            try await database.settle()
            #expect(try await database.lines(.gross, "2026-01-01", by: .month) == ["2026-01-01 USD 110 2 0"])
            #expect(try await !database.figures.isDue(in: "UTC"))
            let tables = try await database.tables()
            try await database.hear(
                Shop.entry(
                    "1", at: Shop.day(0, hours: 12), days: nil, product: "coins", kind: .consumable, price: 10,
                    signed: Shop.day(3)))
            #expect(try await !database.figures.isDue(in: "UTC"))
            #expect(try await database.tables() == tables)
        }
    }

    @Test("while one clock sums, another one returns at once")
    func clocks() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.coin("1"))
            let held = try await HeldTransaction(
                in: database.site.database, "select id::text from storehook.figure_marks for update")
            async let first = database.figures.sum(in: "UTC")
            try await Self.waiting(database)
            #expect(try await !database.figures.sum(in: "UTC"))
            #expect(try await !database.figures.sum(in: "Asia/Tokyo"))
            try await held.release()
            _ = try await first
            #expect(try await database.lines(.gross, "2026-01-01") == ["2026-01-01 USD 10 1 0"])
        }
    }

    @Test("many clocks at once, beside writers, count each row once")
    func crowd() async throws {
        try await FigureDatabase.with { database in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<3 {
                    group.addTask {
                        for number in 0..<40 {
                            try await database.site.apply([Self.coin("\(writer)-\(number)", Int64(number % 5))])
                        }
                    }
                }
                for clock in 0..<4 {
                    group.addTask {
                        for round in 0..<60 {
                            _ = try await database.figures.sum(in: clock == 0 && round % 20 == 7 ? "Asia/Tokyo" : "UTC")
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await database.settle()
            #expect(try await database.lines(.gross, "2026-01-01", by: .month) == ["2026-01-01 USD 1200 120 0"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("a change that commits while its day is being summed is pending after that, and counted by the next round")
    func meanwhile() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.coin("1"))
            try await database.settle()
            try await database.hear(Self.coin("2", price: 100))
            // The sum reads the books, and waits for the cells that it replaces.
            let held = try await HeldTransaction(
                in: database.site.database, "select day::text from storehook.figure_cells for update")
            async let sum = database.figures.sum(in: "UTC")
            try await Self.waiting(database)
            try await database.hear(Self.coin("3", price: 1_000))
            try await held.release()
            _ = try await sum
            #expect(try await database.lines(.gross, "2026-01-01") == ["2026-01-01 USD 110 2 0"])
            #expect(try await Self.standing(database, "2026-01-01")?.isPending == true)
            try await database.settle()
            #expect(try await database.lines(.gross, "2026-01-01") == ["2026-01-01 USD 1110 3 0"])
            #expect(try await Self.standing(database, "2026-01-01")?.isPending == false)
        }
    }

    @Test("all marks of a day are taken with the first of them, but for hours that lie in other days, too")
    func together() async throws {
        try await FigureDatabase.with(zone: "Asia/Kolkata") { database in
            func mark(_ first: String, _ last: String) async throws {
                try await database.site.pool.query(
                    """
                    insert into storehook.figure_marks (hour)
                    select h from generate_series(\(first)::text::timestamptz, \(last)::text::timestamptz, interval '1 hour') h
                    """)
            }
            // 2026-01-01 in Kolkata is from 18:30 to 18:30 UTC.
            try await mark("2026-01-01T00:00Z", "2026-01-01T00:00Z")
            try await mark("2025-12-31T12:00Z", "2026-01-01T23:00Z")
            try await database.site.pool.query(
                "insert into storehook.figure_marks (day) values ('2026-01-01'), ('2026-01-02')")
            func hours(_ day: String, _ hours: ClosedRange<Int>) -> [String] {
                hours.map { "\(day) \($0 < 10 ? "0" : "")\($0)" }
            }
            func left() async throws -> [String] {
                try await database.site.texts(
                    """
                    select coalesce(to_char(hour at time zone 'UTC', 'DD HH24'), day::text) from storehook.figure_marks
                     order by hour, day
                    """)
            }
            #expect(try await database.figures.sum(in: "Asia/Kolkata", atMost: 1))
            #expect(try await left() == hours("31", 12...18) + hours("01", 18...23) + ["2026-01-02"])
            // With days of Los Angeles beside them only what is of one day in both goes with the first.
            try await database.settle(in: "Asia/Kolkata", hasFiscalMonths: true)
            try await mark("2026-01-01T00:00Z", "2026-01-01T00:00Z")
            try await mark("2025-12-31T12:00Z", "2026-01-01T23:00Z")
            #expect(try await database.figures.sum(in: "Asia/Kolkata", atMost: 1))
            #expect(try await left() == hours("31", 12...18) + hours("01", 8...23))
            try await database.settle(in: "Asia/Kolkata")
            #expect(try await left().isEmpty)
        }
    }

    @Test(
        "a purchase that becomes an account's marks nothing before it is booked, and the days of all of the account's then"
    )
    func unbooked() async throws {
        try await FigureDatabase.with { database in
            let account = OrderDatabase.token("ann")
            try await database.hear(
                Shop.entry("1", at: Shop.day(0)) { $0.appAccountToken = account }, Shop.entry("2", at: Shop.day(40)))
            try await database.settle()
            func link(_ purchase: String) async throws {
                try await database.site.pool.query(
                    """
                    insert into storehook.account_lines (token, environment, original_transaction_id, bundle_id)
                    values (\(account.description)::text::uuid, 'Production', \(purchase), \(Shop.app))
                    """)
            }
            try await link("3")
            #expect(try await !database.figures.isDue(in: "UTC"))
            try await link("2")
            let days = try await database.site.texts(
                "select distinct (hour at time zone 'UTC')::date::text from storehook.figure_marks")
            #expect(days.contains("2026-01-01") && days.contains("2026-02-10"), "\(days)")
            try await database.settle()
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("more days than one round takes are all summed, the first marked first")
    func portions() async throws {
        try await FigureDatabase.with { database in
            for day in Int64(0)..<60 { try await database.site.apply([Self.coin("\(day)", day)]) }
            #expect(try await database.figures.sum(in: "UTC"))
            let some = try await database.lines(.gross, "2026-01-01", "2026-03-01")
            #expect(!some.isEmpty && some.count < 60)
            #expect(some.first?.hasPrefix("2026-01-01") == true)
            try await database.settle()
            #expect(try await database.lines(.gross, "2026-01-01", "2026-03-01").count == 60)
        }
    }

    @Test("a period says whether it is running and whether something in it is not summed yet")
    func standings() async throws {
        try await FigureDatabase.with(zone: "Asia/Kolkata") { database in
            let zone = "Asia/Kolkata"
            // 18:00 UTC is 23:30 in Kolkata: the hour of the mark lies in two days.
            let at = try #require(Timestamp(iso8601: "2026-01-31T18:10:00Z"))
            try await database.hear(Shop.entry("1", at: at, days: nil, product: "coins", kind: .consumable))
            for (day, isPending) in [
                ("2026-01-30", false), ("2026-01-31", true), ("2026-02-01", true), ("2026-02-02", false),
            ] {
                #expect(try await Self.standing(database, day)?.isPending == isPending, "\(day)")
            }
            #expect(try await Self.standing(database, "2026-01-01", by: .month)?.isPending == true)
            #expect(try await Self.standing(database, "2026-03-01", by: .month)?.isPending == false)
            #expect(try await database.lines(.gross, "2026-01-31") == [])
            try await database.settle(in: zone)
            #expect(try await database.lines(.gross, "2026-01-31") == ["2026-01-31 USD 9990 1 0"])
            for day in ["2026-01-31", "2026-02-01"] {
                #expect(try await Self.standing(database, day) == FigureAnswer.Standing(), "\(day)")
            }
            let days = try await database.site.texts(
                """
                select ((now() at time zone 'Asia/Kolkata')::date + d)::text from generate_series(-1, 1) d
                """)
            #expect(try await Self.standing(database, days[0])?.isRunning == false)
            #expect(try await Self.standing(database, days[1])?.isRunning == true)
            #expect(try await Self.standing(database, days[2])?.isRunning == true)
            #expect(try await Self.standing(database, days[1], by: .month)?.isRunning == true)
        }
    }

    @Test("a refund in an hour that lies in two days is on the second of them")
    func halfHour() async throws {
        try await FigureDatabase.with(zone: "Asia/Kolkata") { database in
            try await database.hear(Self.coin("1"))
            try await database.settle(in: "Asia/Kolkata")
            let at = try #require(Timestamp(iso8601: "2026-01-31T18:45:00Z"))
            try await database.hear(
                Shop.entry(
                    "1", at: Shop.day(0, hours: 12), days: nil, product: "coins", kind: .consumable, price: 10,
                    signed: at
                ) { $0.revocationDate = at })
            try await database.settle(in: "Asia/Kolkata")
            #expect(try await database.lines(.refunded, "2026-01-31", "2026-02-01") == ["2026-02-01 USD 10 1 0 0"])
        }
    }

    @Test("a period is proven once Apple was asked for all of it, of each app that counts")
    func proven() async throws {
        try await FigureDatabase.with(zone: "America/New_York") { database in
            // A day of New York ends at 05:00 UTC.
            try await database.site.pool.query(
                """
                insert into storehook.history_windows (environment, bundle_id, starts_at, ends_at, askings, first_asked_at, asked_at, proven_at)
                values ('Production', 'com.example.app', '2026-01-01Z', '2026-01-11 05:00Z', 1, now(), now(), now()),
                       ('Production', 'com.example.other', '2026-01-01Z', '2026-01-06 04:59Z', 1, now(), now(), now()),
                       ('Sandbox', 'com.example.app', '2026-01-01Z', '2026-01-02Z', 1, now(), now(), now())
                """)
            let cases: [(String, Set<String>?, Bool)] = [
                ("2026-01-04", nil, true), ("2026-01-05", nil, false), ("2026-01-10", nil, false),
                ("2026-01-10", ["com.example.app"], true), ("2026-01-11", ["com.example.app"], false),
                ("2026-01-04", ["com.example.other"], true), ("2026-01-05", ["com.example.other"], false),
                ("2026-01-04", ["com.example.third"], false), ("2026-01-04", [], false),
            ]
            for (day, apps, isProven) in cases {
                #expect(
                    try await Self.standing(database, day, apps: apps)?.isProven == isProven,
                    "\(day) \(apps?.description ?? "all")")
            }
            #expect(try await Self.standing(database, "2026-01-01", by: .month)?.isProven == false)
            #expect(try await Self.standing(database, "2025-12-01", by: .month)?.isProven == true)
            // An app with a key, and without a proof yet.
            try await database.site.pool.query(
                """
                insert into storehook.history_windows (environment, bundle_id, starts_at, ends_at)
                values ('Production', 'com.example.third', '2026-01-01Z', '2026-01-02Z')
                """)
            #expect(try await Self.standing(database, "2026-01-04")?.isProven == false)
        }
    }

    @Test("before the first days are summed an answer says that days are pending")
    func first() async throws {
        try await FigureDatabase.with { database in
            let state: PostgresQuery =
                "update storehook.figure_state set zone = null, next_zone = null, summed_from = null"
            try await database.hear(Self.coin("1"))
            try await database.site.pool.query("delete from storehook.figure_marks")
            try await database.site.pool.query(state)
            let question = try database.question(.gross, "2026-01-01")
            #expect(try await database.figures.answer(question).zone == nil)
            #expect(try await database.figures.sum(in: "UTC"))
            #expect(try await database.figures.answer(question).zone == "UTC")
            #expect(try await Self.standing(database, "2026-01-01")?.isPending == true)
            try await database.settle()
            #expect(try await Self.standing(database, "2026-01-01")?.isPending == false)
            #expect(try await database.lines(.gross, "2026-01-01") == ["2026-01-01 USD 10 1 0"])
        }
    }
}
