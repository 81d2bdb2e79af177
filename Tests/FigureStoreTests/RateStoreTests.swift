import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import TestSupport
import Testing

/// Imports of rates, beside other imports and clocks that sum.
struct RateStoreTests {
    private static func all(_ database: FigureDatabase) async throws -> [String] {
        try await database.site.texts(
            "select concat_ws(' ', day, currency, billionths) from storehook.exchange_rates order by day, currency")
    }

    /// Waits until so many statements wait for a lock.
    private static func waiting(_ count: Int64, _ database: FigureDatabase) async throws {
        try await eventually("\(count) wait for a lock") {
            try await database.site.value(
                """
                select count(*) = \(count) from pg_stat_activity
                 where datname = current_database() and wait_event_type = 'Lock' and query not like '%pg_advisory%'
                """)
        }
    }

    @Test("an import counts what is new and what is corrected, keeps what was before, and what the file lacks")
    func imports() async throws {
        try await FigureDatabase.with { database in
            #expect(
                try await database.take("2026-01-02 USD 1.1", "2026-01-02 JPY 150", "2026-01-05 USD 1.2")
                    == RateImport(rates: 3, added: 3, corrected: 0))
            #expect(
                try await database.take("2026-01-02 USD 1.3", "2026-01-05 USD 1.2", "2026-01-20 USD 1.4")
                    == RateImport(rates: 3, added: 1, corrected: 1))
            #expect(
                try await Self.all(database) == [
                    "2026-01-02 JPY 150000000000", "2026-01-02 USD 1300000000", "2026-01-05 USD 1200000000",
                    "2026-01-20 USD 1400000000",
                ])
            #expect(
                try await database.site.texts(
                    "select concat_ws(' ', day, currency, billionths, replaced_at > imported_at) from storehook.earlier_rates"
                ) == ["2026-01-02 USD 1100000000 t"])
            let known = try await RateStore(database.site.pool).known()
            #expect(
                known.map { "\($0.currency) \($0.first) \($0.last) \($0.days) \($0.uncovered) \($0.corrected)" } == [
                    // The rate of the 5th counts up to the 12th.
                    "JPY 2026-01-02 2026-01-02 1 0 0", "USD 2026-01-02 2026-01-20 3 7 1",
                ])
            #expect(known[0].importedAt < known[1].importedAt)
            let acts = try await database.site.texts(
                "select concat_ws(' ', act, actor, role, subject_kind, subject, after::jsonb - 'digest') from storehook.audit where act = 'import_rates' order by place"
            )
            #expect(
                acts == [
                    #"import_rates cli:test admin rates 1 {"added": 3, "rates": 3, "corrected": 0}"#,
                    #"import_rates cli:test admin rates 2 {"added": 1, "rates": 3, "corrected": 1}"#,
                ])
        }
    }

    @Test("two imports at once run one after the other, and the later one corrects the rates of the earlier one")
    func twoAtOnce() async throws {
        try await FigureDatabase.with { database in
            let held = try await HeldTransaction(
                in: database.site.database, "select is_only::text from storehook.figure_state for update")
            async let one = database.take((1...28).map { "2026-02-\($0 < 10 ? "0" : "")\($0) USD 1.5" })
            try await Self.waiting(1, database)
            async let other = database.take((1...28).map { "2026-02-\($0 < 10 ? "0" : "")\($0) USD 2.5" })
            try await Self.waiting(2, database)
            #expect(try await Self.all(database).isEmpty)
            try await held.release()
            let taken = try await [one, other]
            #expect(taken.reduce(0) { $0 + $1.added } == 28 && taken.reduce(0) { $0 + $1.corrected } == 28, "\(taken)")
            let values = Set(try await Self.all(database).map { $0.suffix(10) })
            #expect(values.count == 1, "\(values)")
        }
    }

    @Test("a day that a clock sums while rates are imported is converted by them")
    func besideClock() async throws {
        try await FigureDatabase.with { database in
            try await database.settle(currency: "EUR")
            try await database.hear(Shop.coins("1", at: Shop.day(1, hours: 3)))
            let held = try await HeldTransaction(
                in: database.site.database, "select id::text from storehook.figure_marks for update")
            async let sum = database.figures.sum(in: "UTC", currency: "EUR")
            try await Self.waiting(1, database)
            async let taken = database.take("2026-01-02 USD 2")
            try await Self.waiting(2, database)
            try await held.release()
            _ = try await sum
            #expect(try await taken.added == 1)
            try await database.settle(currency: "EUR")
            #expect(try await database.lines(.gross, "2026-01-02", in: "EUR") == ["2026-01-02 EUR 4995 1 0"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("an import that fails in the middle leaves nothing")
    func failure() async throws {
        try await FigureDatabase.with { database in
            try await database.take("2026-01-02 USD 1.1")
            try await database.site.pool.query(
                "alter table storehook.rate_imports add constraint refused check (rates <> 2)")
            await #expect(throws: PostgresError.self) {
                try await database.take("2026-01-02 USD 1.2", "2026-01-05 USD 1.2")
            }
            #expect(try await Self.all(database) == ["2026-01-02 USD 1100000000"])
            #expect(try await database.site.texts("select day::text from storehook.earlier_rates").isEmpty)
        }
    }
}
