import AppStorePayloads
import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import Testing

/// Figures by the months of Apple's fiscal year, in days of Los Angeles.
@Suite("Fiscal months")
struct FiscalFigureTests {
    private static let losAngeles = "America/Los_Angeles"

    /// A coin, bought at an instant like `2026-03-28T23:00:00Z`.
    private static func coin(
        _ id: String, _ instant: String, price: Int64?, signed: Timestamp? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) throws -> LedgerEntry {
        let at = try #require(Timestamp(iso8601: instant))
        return Shop.entry(
            id, at: at, days: nil, product: "coins", kind: .consumable, price: price, signed: signed, change)
    }

    private static func hear(_ instants: [String], _ database: FigureDatabase) async throws {
        var price: Int64 = 1
        for (place, instant) in instants.enumerated() {
            try await database.hear(coin("\(place + 1)", instant, price: price))
            price *= 10
        }
    }

    private static func question(
        _ database: FigureDatabase, _ figure: Figure, _ from: String, _ to: String,
        _ split: FigureQuestion.Split? = nil, in currency: String? = nil
    ) async throws -> FigureQuestion {
        try #require(
            try await database.figures.question(
                figure, from: FigureBound(from), to: FigureBound(to), by: .fiscalMonth, split, in: currency))
    }

    private static func lines(
        _ database: FigureDatabase, _ figure: Figure, _ from: String, _ to: String,
        _ split: FigureQuestion.Split? = nil, in currency: String? = nil
    ) async throws -> [String] {
        try await database.figures.answer(question(database, figure, from, to, split, in: currency)).lines
    }

    @Test("a month begins and ends at midnight in Los Angeles, on both sides of both changes of the clocks")
    func boundaries() async throws {
        try await FigureDatabase.with { database in
            try await Self.hear(
                [
                    // 2026-FM05 ends on 2026-02-28, in winter; 2026-FM06 on 2026-03-28, in summer.
                    "2026-03-01T07:59:59.999Z", "2026-03-01T08:00:00Z", "2026-03-08T09:59:59Z", "2026-03-08T10:00:00Z",
                    "2026-03-29T06:59:59.999Z", "2026-03-29T07:00:00Z",
                    // 2026-FM01 ends on 2025-11-01, the night before the clocks are set back.
                    "2025-11-02T06:59:59.999Z", "2025-11-02T07:00:00Z", "2025-11-30T07:59:59.999Z",
                    "2025-11-30T08:00:00Z",
                ], database)
            try await database.settle(hasFiscalMonths: true)
            #expect(
                try await Self.lines(database, .gross, "2026-FM01", "2026-FM07") == [
                    "2025-09-28 USD 1000000 1 0", "2025-11-02 USD 110000000 2 0", "2025-11-30 USD 1000000000 1 0",
                    "2026-02-01 USD 1 1 0", "2026-03-01 USD 11110 4 0", "2026-03-29 USD 100000 1 0",
                ])
            let answer = try await database.figures.answer(
                Self.question(database, .gross, "2026-FM05", "2026-FM05"))
            #expect(answer.zone == Self.losAngeles && answer.periods.map { answer.name(of: $0) } == ["2026-FM05"])
            // Days choose their whole months.
            #expect(
                try await Self.lines(database, .gross, "2026-03-01", "2026-03-02") == ["2026-03-01 USD 11110 4 0"])
            let rows = try await database.rows(
                FigureRowQuestion(Self.question(database, .gross, "2026-FM06", "2026-FM06")))
            #expect(rows.map(\.amount) == [10, 100, 1000, 10_000])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("each is the sum of its days in Los Angeles, for every figure and split, also after late records")
    func sums() async throws {
        let instants = (0..<40).map { "2026-0\(1 + $0 % 6)-\(10 + $0 % 18)T0\($0 % 10):30:00Z" }
        try await FigureDatabase.with { fiscal in
            try await FigureDatabase.with(zone: Self.losAngeles) { plain in
                for (database, zone) in [(fiscal, "UTC"), (plain, Self.losAngeles)] {
                    for (place, instant) in instants.enumerated() {
                        try await database.hear(Self.coin("\(place)", instant, price: Int64(100 + place)))
                        if place == 20 { try await database.settle(in: zone, hasFiscalMonths: true) }
                    }
                    let refund = try #require(Timestamp(iso8601: "2026-05-31T03:00:00Z"))
                    try await database.hear(
                        Self.coin("7", instants[7], price: 107, signed: refund) { $0.revocationDate = refund })
                    for period in Int64(0)..<5 {
                        try await database.hear(
                            Shop.entry(
                                "s", "s.\(period)", at: Shop.day(5 + 30 * period), renewal: period > 0,
                                first: Shop.day(5)))
                    }
                }
                try await fiscal.settle(hasFiscalMonths: true)
                try await plain.settle(in: Self.losAngeles, hasFiscalMonths: true)
                // Where the zone of the figures is that of fiscal months nothing further is kept.
                let zones: PostgresQuery = "select distinct zone from storehook.figure_cells order by 1"
                #expect(try await plain.site.texts(zones) == [Self.losAngeles])
                #expect(try await fiscal.site.texts(zones) == [Self.losAngeles, "UTC"])
                for figure in Figure.allCases where figure != .orders {
                    for split in [nil] + figure.splits.map(Optional.some) {
                        let months = try await Self.lines(fiscal, figure, "2026-FM03", "2026-FM10", split)
                        #expect(
                            try await Self.lines(plain, figure, "2026-FM03", "2026-FM10", split) == months, "\(figure)")
                    }
                }
                for month in ["2026-FM04", "2026-FM06", "2026-FM09"] {
                    let asked = try await Self.question(plain, .net, month, month)
                    let days = try await plain.figures.answer(
                        FigureQuestion(.net, asked.days, by: .day))
                    let whole = try await fiscal.figures.answer(asked)
                    let net = Figure.net.columns[0]
                    #expect(
                        whole.cells.compactMap { net.value($0.sums) }.reduce(0, +)
                            == days.cells.compactMap { net.value($0.sums) }.reduce(0, +))
                }
                for database in [fiscal, plain] { #expect(try await database.differences().isEmpty) }
            }
        }
    }

    @Test("in a currency they are converted when they are asked for, as the days of the figures are")
    func converted() async throws {
        try await FigureDatabase.with { database in
            try await database.take("2026-01-14 USD 1.25")
            try await database.hear(Self.coin("1", "2026-01-15T12:00:00Z", price: 1_000))
            try await database.settle(currency: "EUR", hasFiscalMonths: true)
            #expect(
                try await Self.lines(database, .gross, "2026-FM04", "2026-FM04", in: "EUR") == [
                    "2025-12-28 EUR 800 1 0"
                ])
            #expect(
                try await database.site.texts("select distinct zone from storehook.currency_sums") == ["UTC"])
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("their zone comes and goes with the wish, and with a change of the figures' own zone")
    func wishes() async throws {
        try await FigureDatabase.with { database in
            let zones: PostgresQuery = "select distinct zone from storehook.figure_cells order by 1"
            try await Self.hear(["2026-01-31T20:00:00Z", "2026-05-31T20:00:00Z"], database)
            try await database.settle()
            await #expect(throws: FiscalRefusal.notKept) {
                try await Self.lines(database, .gross, "2026-FM01", "2026-FM12")
            }
            #expect(try await database.figures.isDue(in: "UTC", hasFiscalMonths: true))
            // While they are summed an answer says so.
            #expect(try await database.figures.sum(in: "UTC", hasFiscalMonths: true))
            let question = try await Self.question(database, .gross, "2026-FM04", "2026-FM04")
            #expect(try await database.figures.answer(question).standings.values.allSatisfy(\.isPending))
            try await database.settle(hasFiscalMonths: true)
            #expect(try await !database.figures.isDue(in: "UTC", hasFiscalMonths: true))
            #expect(try await database.figures.answer(question).standings.values.allSatisfy { !$0.isPending })
            let both = try await database.tables()

            // The figures move into their zone, and back.
            try await database.settle(in: Self.losAngeles, currency: "EUR", hasFiscalMonths: true)
            #expect(try await database.site.texts(zones) == [Self.losAngeles])
            #expect(try await Self.lines(database, .gross, "2026-FM04", "2026-FM04") == ["2025-12-28 USD 1 1 0"])
            #expect(try await database.differences().isEmpty)
            try await database.settle(hasFiscalMonths: true)
            #expect(try await database.tables() == both)
            #expect(try await database.differences().isEmpty)
            // And begin to, and do not.
            #expect(try await database.figures.sum(in: Self.losAngeles, hasFiscalMonths: true))
            try await database.hear(Self.coin("3", "2026-02-01T20:00:00Z", price: 100))
            try await database.settle(hasFiscalMonths: true)
            #expect(try await Self.lines(database, .gross, "2026-FM05", "2026-FM05") == ["2026-02-01 USD 100 1 0"])
            #expect(try await database.differences().isEmpty)

            try await database.settle(hasFiscalMonths: false)
            #expect(try await database.site.texts(zones) == ["UTC"])
            await #expect(throws: FiscalRefusal.notKept) { try await database.figures.answer(question) }
        }
    }

    @Test("what a release that knows of none deletes of their days is summed anew")
    func earlierRelease() async throws {
        try await FigureDatabase.with { database in
            try await Self.hear(["2026-01-31T20:00:00Z", "2026-05-31T20:00:00Z"], database)
            try await database.settle(hasFiscalMonths: true)
            let both = try await database.tables()
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    set local storehook.figure_content = '5';
                    delete from storehook.figure_cells where zone = 'America/Los_Angeles' and day < '2026-03-01';
                    delete from storehook.figure_sums where zone = 'America/Los_Angeles' and period > '2026-03-01';
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC", hasFiscalMonths: true))
            try await database.settle(hasFiscalMonths: true)
            #expect(try await database.tables() == both)
        }
    }

    @Test("a year that the calendar lacks is refused by its name, and one that is applied counts")
    func years() async throws {
        try await FigureDatabase.with { database in
            func refusal(_ from: String?, _ to: String?, by step: FigureQuestion.Step = .fiscalMonth) async
                -> FiscalRefusal?
            {
                do {
                    _ = try await database.figures.question(
                        .net, from: from.flatMap { FigureBound($0) }, to: to.flatMap { FigureBound($0) }, by: step)
                    return nil
                } catch { return error as? FiscalRefusal }
            }
            #expect(await refusal("2016-FM12", "2017-FM02") == .noYear(2016))
            #expect(await refusal("2027-FM12", "2028-FM01") == .noYear(2028))
            #expect(await refusal("2015-12-31", "2018-01-01") == .noYear(2016))
            #expect(FiscalRefusal.noYear(2028).description.contains("no fiscal year 2028"))
            let month = try #require(FiscalMonth("2026-FM01"))
            #expect(await refusal("2026-FM01", nil, by: .month) == .otherStep(month))
            let later = try #require(ClosingMonth("2031-FM01"))
            await #expect(throws: FiscalRefusal.noYear(2031)) {
                try await database.figures.close(later, by: "test", unproven: "a test")
            }
            let calendars = FiscalCalendarStore(database.site.pool)
            #expect(try await calendars.counting() == .standard)
            let text =
                FiscalCalendar.standardText
                + "  - {year: 2028, from: 2027-09-26, weeks: [5, 4, 5, 5, 4, 4, 5, 4, 4, 5, 4, 4]}\n"
            #expect(try await calendars.apply(text, by: "cli:test") == .init(version: 1, isNew: true))
            #expect(try await calendars.apply(text, by: "cli:test") == .init(version: 1, isNew: false))
            #expect(await refusal("2027-FM12", "2028-FM01") == nil)
            #expect(
                try await database.site.texts(
                    "select concat_ws(' ', act, actor, role, subject) from storehook.audit where subject_kind = 'fiscal_calendar'"
                ) == ["apply_fiscal_calendar cli:test admin 1"])
        }
    }

    @Test("one that is closed stays, apart from the calendar's months; the corrections say what changed")
    func closing() async throws {
        try await FigureDatabase.with { database in
            // Of fiscal April in Los Angeles, and of the month before it.
            try await database.hear(Self.coin("1", "2026-03-29T07:00:00Z", price: 1_000))
            try await database.hear(Self.coin("2", "2026-03-29T06:59:59Z", price: 10))
            try await database.settle()
            let month = try #require(ClosingMonth("2026-FM07"))
            let closed = try await database.figures.close(month, by: "cli:anna", unproven: "a test")
            #expect(
                closed.zone == Self.losAngeles && closed.rows == 4,
                "a sale, its proceeds, and two orders by the day in their number")
            #expect("\(closed.days.lowerBound) \(closed.days.upperBound)" == "2026-03-29 2026-05-02")
            await #expect(throws: CloseRefusal.closed(month)) {
                try await database.figures.close(month, by: "cli:anna", unproven: "a test")
            }
            let question = try await Self.question(database, .net, "2026-FM06", "2026-FM07")
            let before = ["2026-03-29 USD 1000 1000 0"]
            #expect(try await database.figures.closedAnswer(question).lines == before)
            // No month of the calendar is closed by it.
            let calendar = try database.question(.net, "2026-03-01", "2026-04-30", by: .month)
            #expect(try await database.figures.closedAnswer(calendar).cells.isEmpty)
            #expect(try await database.figures.corrections(calendar, limit: 10).elements.isEmpty)

            try await database.hear(Self.coin("3", "2026-05-03T06:59:59Z", price: 100))
            try await database.hear(Self.coin("4", "2026-05-03T07:00:00Z", price: 7))
            try await database.settle(hasFiscalMonths: true)
            #expect(try await database.figures.closedAnswer(question).lines == before)
            let corrections = try await database.figures.corrections(question, limit: 10).elements
            #expect(corrections.map(\.now?.amount) == [100] && corrections.map(\.month) == [month])
            #expect(
                try await Self.lines(database, .net, "2026-FM07", "2026-FM07") == ["2026-03-29 USD 1100 1100 0"])

            try await database.figures.reopen(month, by: "cli:anna", why: "a test")
            #expect(try await database.figures.closedAnswer(question).cells.isEmpty)
            await #expect(throws: CloseRefusal.notClosed(month)) {
                try await database.figures.reopen(month, by: "cli:anna", why: "a test")
            }
        }
    }
}
