import AccountStore
import AppStorePayloads
import Base
import FigureStore
import Figures
import Foundation
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// Closed months: their values stay.
struct CloseTests {
    private static let why = "test"

    private static func coin(
        _ id: String, at start: Timestamp = Shop.day(10), price: Int64? = 1_990, signed: Timestamp? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        Shop.entry(
            id, at: start, days: nil, product: "coins", kind: .consumable, price: price, signed: signed, change)
    }

    private static func month(_ text: String) throws -> FigureMonth {
        guard let month = FigureMonth(text) else { throw NoMonth() }
        return month
    }

    private struct NoMonth: Error {}

    @Test("closed values stay after late records, rebuilds and applied files; the corrections list the changes")
    func stays() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.coin("1"), Self.coin("2"), Self.coin("3", at: Shop.day(12), price: 500))
            try await database.settle()
            let january = try Self.month("2026-01")
            let closed = try await database.figures.close(.calendar(january), by: "cli:anna", unproven: Self.why)
            #expect(closed.rows == 9, "an order, a sale and its proceeds of each")
            let question = try database.question(.net, "2026-01-01", "2026-01-31", by: .month)
            let before = try await database.figures.closedAnswer(question).lines
            #expect(before == ["2026-01-01 USD 4480 4480 0"])

            try await database.hear(
                // Another purchase, a refund in January, and another price of one.
                Self.coin("4", at: Shop.day(20), price: 700),
                Self.coin("1", signed: Shop.day(15)) { $0.revocationDate = Shop.day(14) },
                Self.coin("3", at: Shop.day(12), price: 600, signed: Shop.day(16)))
            try await database.site.destroy()
            _ = try await database.site.differences(repair: true)
            _ = try await database.site.accounts.apply(Shop.catalog(zone: "Asia/Tokyo"), by: "test")
            try await database.settle(in: "Asia/Tokyo")
            #expect(try await database.figures.closedAnswer(question).lines == before)
            #expect(
                try await database.lines(.net, "2026-01-01", "2026-01-31", by: .month) == [
                    "2026-01-01 USD 3290 5280 1990"
                ])
            let corrections = try await database.figures.corrections(question, limit: 100).elements
            let lines = corrections.map {
                "\($0.was.map { "\($0.amount ?? 0)" } ?? "-") \($0.now.map { "\($0.amount ?? 0)" } ?? "-") \($0.now?.measure.rawValue ?? "")"
            }
            #expect(lines == ["- -1990 refund", "500 600 sale", "- 700 sale"])
            #expect(corrections.map(\.now?.transactionID) == ["1", "3", "4"])
            // A page at a time.
            var (pages, cursor) = ([FigureCorrection](), ListCursor?.none)
            repeat {
                let page = try await database.figures.corrections(question, after: cursor, limit: 1)
                #expect(page.elements.count == 1)
                pages += page.elements
                cursor = page.next
                if let cursor { #expect(FigureStore.isCorrectionCursor(cursor)) }
            } while cursor != nil
            #expect(pages == corrections)
        }
    }

    @Test("a month is refused while it runs, while notifications wait, where it is not proven, and twice")
    func refusals() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.coin("1"))
            let january = try Self.month("2026-01")
            try await database.site.pool.query(
                "insert into storehook.outbox_queue (id, received_at, due_at) select 1, t, t from (select now() - interval '2 minutes' as t) t"
            )
            await #expect(throws: CloseRefusal.waiting(.calendar(january))) {
                try await database.figures.close(.calendar(january), by: "test", unproven: Self.why)
            }
            try await database.site.pool.query("delete from storehook.outbox_queue")
            try await database.settle()
            await #expect(throws: CloseRefusal.unproven(.calendar(january))) {
                try await database.figures.close(.calendar(january), by: "test")
            }
            let now = FigureMonth(try await database.figures.today())
            await #expect(throws: CloseRefusal.running(.calendar(now))) {
                try await database.figures.close(.calendar(now), by: "test", unproven: Self.why)
            }
            await #expect(throws: CloseRefusal.notClosed(.calendar(january))) {
                try await database.figures.reopen(.calendar(january), by: "test", why: Self.why)
            }
            #expect(try await database.site.value("select count(*) from storehook.closed_months", as: Int64.self) == 0)
            #expect(try await database.site.value("select count(*) from storehook.closed_rows", as: Int64.self) == 0)

            // Of several at once one closes.
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        (try? await database.figures.close(.calendar(january), by: "test", unproven: Self.why)) != nil
                    }
                }
                return await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(outcomes.count { $0 } == 1)
            await #expect(throws: CloseRefusal.closed(.calendar(january))) {
                try await database.figures.close(.calendar(january), by: "test", unproven: Self.why)
            }
            try await database.figures.reopen(.calendar(january), by: "cli:bert", why: "late refunds")
            #expect(try await database.figures.closedMonths(january.days).isEmpty)
            _ = try await database.figures.close(.calendar(january), by: "cli:anna", unproven: Self.why)
            // Nothing can be added to a record, and an opened month stays open.
            for statement: PostgresQuery in [
                "insert into storehook.closed_rows select closed_id, 'refund', order_id, item, place, at, bundle_id from storehook.closed_rows where measure = 'sale'",
                "update storehook.closed_months set reopened_at = null, reopened_by = null, reopened_why = null where reopened_at is not null",
                "update storehook.closed_months set reopened_by = 'x' where reopened_at is not null",
            ] {
                let error = await #expect(throws: PostgresError.self) { try await database.site.pool.query(statement) }
                #expect(error?.sqlState == "42501")
            }
            let acts = try await database.site.texts(
                "select concat_ws(' ', act, actor, subject) from storehook.audit where subject_kind = 'month' order by place"
            )
            #expect(
                acts.suffix(3) == [
                    "close_month cli:test 2026-01", "reopen_month cli:bert 2026-01", "close_month cli:anna 2026-01",
                ])
        }
    }

    @Test("the catalog on record is the one that workers summed by")
    func catalog() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.coin("1"))
            try await database.settle()
            let month = ClosingMonth.calendar(try Self.month("2026-01"))
            func close() async throws -> Int64? {
                let closed = try await database.figures.close(month, by: "test", unproven: Self.why)
                try await database.figures.reopen(month, by: "test", why: Self.why)
                return closed.catalogVersion
            }
            let first = try await database.site.accounts.current()?.version
            _ = try await database.site.accounts.apply(Shop.catalog(premium: "pro"), by: "test")
            let version = try await database.site.accounts.current()?.version
            #expect(try await close() == first && first != nil && first != version)
            #expect(try await database.figures.isDue(in: "UTC", catalogVersion: version))
            try await database.settle()
            #expect(try await !database.figures.isDue(in: "UTC", catalogVersion: version))
            #expect(try await close() == version)
        }
    }

    @Test("a figure that the release lacked which closed a month is not on record, and nothing of it is a correction")
    func unrecorded() async throws {
        try await FigureDatabase.with { database in
            try await database.hear(Self.coin("1"))
            try await database.settle()
            let month = ClosingMonth.calendar(try Self.month("2026-01"))
            _ = try await database.figures.close(month, by: "test", unproven: Self.why)
            // As a release without proceeds has closed it.
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    set local session_replication_role = replica;
                    update storehook.closed_months set measures = array_remove(measures, 'proceeds');
                    delete from storehook.closed_rows where measure = 'proceeds';
                    delete from storehook.closed_cells where measure = 'proceeds';
                    """)
            }
            for (figure, lines, isRecorded) in [
                (Figure.proceeds, [], false), (.net, ["2026-01-01 USD 1990 1990 0"], true),
                (.trials, [], true),
            ] as [(Figure, [String], Bool)] {
                let question = try database.question(figure, "2026-01-01", "2026-02-28", by: .month)
                let answer = try await database.figures.closedAnswer(question)
                #expect(answer.lines == lines, "\(figure)")
                #expect(answer.closed?.map(\.month) == (isRecorded ? [month] : []), "\(figure)")
                #expect(answer.unrecorded == (isRecorded ? [] : [month]), "\(figure)")
                #expect(try await database.figures.unrecorded(question) == answer.unrecorded, "\(figure)")
                #expect(try await database.figures.corrections(question, limit: 10).elements.isEmpty, "\(figure)")
            }
        }
    }

    @Test("at an instant, months that were closed then have what was recorded, and others what is known now")
    func then() async throws {
        try await FigureDatabase.with { database in
            let (january, february) = (Timestamp(iso8601: "2025-01-10"), Timestamp(iso8601: "2025-02-10"))
            try await database.hear(
                Self.coin("1", at: try #require(january)), Self.coin("2", at: try #require(february), price: 500))
            try await database.settle()
            _ = try await database.figures.close(
                .calendar(try Self.month("2025-01")), by: "cli:anna", unproven: Self.why)
            try await database.hear(
                Self.coin("3", at: try #require(january), price: 700),
                Self.coin("4", at: try #require(february), price: 600))
            try await database.settle()
            func set(_ column: String, daysAgo: Int) async throws {
                try await database.site.pool.withTransaction {
                    try $0.executeScript(
                        """
                        set local session_replication_role = replica;
                        update storehook.closed_months
                           set reopened_by = case when '\(column)' = 'reopened_at' then 'cli:anna' else reopened_by end,
                               reopened_why = case when '\(column)' = 'reopened_at' then 'why' else reopened_why end,
                               \(column) = now() - interval '\(daysAgo) days';
                        """)
                }
            }
            try await set("closed_at", daysAgo: 20)
            let now = Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970))
            let (books, records) = ("2025-01-01 USD 2690 2690 0", "2025-01-01 USD 1990 1990 0")
            func lines(_ at: Timestamp, by step: FigureQuestion.Step = .month) async throws -> [String] {
                let question = try #require(
                    try await database.figures.question(
                        .net, from: FigureBound("2025-01-01"), to: FigureBound("2025-02-28"), by: step, at: at))
                let answer = try await database.figures.answer(question, at: at)
                #expect(answer.recorded.isEmpty != answer.lines.contains(records), "\(answer.lines)")
                return answer.lines
            }
            #expect(try await lines(now.adding(days: -21)) == [books, "2025-02-01 USD 1100 1100 0"])
            #expect(try await lines(now.adding(days: -10)) == [records, "2025-02-01 USD 1100 1100 0"])
            #expect(
                try await lines(now.adding(days: -10), by: .day) == [
                    "2025-01-10 USD 2690 2690 0", "2025-02-10 USD 1100 1100 0",
                ])
            try await set("reopened_at", daysAgo: 5)
            #expect(try await lines(now.adding(days: -10)).first == records)
            #expect(try await lines(now.adding(days: -1)).first == books)
            // What had ended by then.
            for (instant, step, expected) in [
                ("2025-02-28T23:59:59Z", .month, [books]), ("2025-01-31T23:59:59Z", .month, []),
                ("2025-02-10T12:00:00Z", .day, ["2025-01-10 USD 2690 2690 0"]),
            ] as [(String, FigureQuestion.Step, [String])] {
                #expect(try await lines(try #require(Timestamp(iso8601: instant)), by: step) == expected, "\(instant)")
            }
        }
    }

    @Test("closed values and corrections are the present values, over random lives and months")
    func random() async throws {
        var generator = SeededGenerator()
        let now = Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970))
        for seeds in sampledSeeds(of: 800, oneIn: 40).batches(of: 100) {
            try await FigureDatabase.with { database in
                let lives = seeds.map { OrderLives.life(seed: $0, now: now) }
                // Half of all messages come after the months were closed.
                let entries = lives.flatMap(\.entries).shuffled(using: &generator)
                for entry in entries.prefix(entries.count / 2) { try await database.site.apply([entry]) }
                try await database.site.number()
                try await database.settle()
                let months = try await database.site.texts(
                    """
                    select distinct to_char(day, 'YYYY-MM') from storehook.figure_cells
                     where day < date_trunc('month', now() at time zone 'UTC') order by 1
                    """
                ).compactMap { FigureMonth($0) }
                #expect(months.count >= 5, "seed \(generator.seed)")
                for month in months {
                    _ = try await database.figures.close(.calendar(month), by: "test", unproven: Self.why)
                }
                for entry in entries.suffix(entries.count - entries.count / 2) {
                    try await database.site.apply([entry])
                }
                try await database.site.number()
                try await database.settle()
                for month in sampled(months, oneIn: 6, using: &generator) {
                    for figure in Figure.allCases where figure != .refundRate && figure.unrecorded == nil {
                        try await Self.compare(database, figure, month, seed: generator.seed)
                    }
                }
            }
        }
    }

    /// Holds closed values with corrections against what the figure says now, by currency, in amount and in number of rows.
    private static func compare(_ database: FigureDatabase, _ figure: Figure, _ month: FigureMonth, seed: UInt64)
        async throws
    {
        struct Value: Hashable { var rows: Int64 = 0, amount: Int64 = 0 }
        func values(_ answer: FigureAnswer) -> [String: Value] {
            var values: [String: Value] = [:]
            for cell in answer.cells {
                if figure == .mrr || figure == .active {
                    let rows = figure == .mrr ? cell.sums.standing.count : cell.sums.active
                    values[cell.group ?? "", default: Value()].rows += rows
                    values[cell.group ?? "", default: Value()].amount += Int64(cell.sums.standing.amount)
                    continue
                }
                for measure in figure.rowMeasures {
                    let sum = cell.sums[measure]
                    values[cell.group ?? "", default: Value()].rows += sum.count
                    values[cell.group ?? "", default: Value()].amount +=
                        Int64(sum.amount) * (figure.takesAway(measure) ? -1 : 1)
                }
            }
            return values.filter { $0.value != Value() }
        }
        let question = FigureQuestion(
            figure, month.days, by: .month, figure.splits.contains(.currency) ? .currency : nil)
        var expected = values(try await database.figures.closedAnswer(question))
        for correction in try await database.figures.corrections(question, limit: 10_000).elements {
            func group(_ row: FigureRow) -> String { question.split == nil ? "" : row.currency ?? "" }
            if let was = correction.was {
                expected[group(was), default: Value()].rows -= 1
                expected[group(was), default: Value()].amount -= was.amount ?? 0
            }
            if let now = correction.now {
                expected[group(now), default: Value()].rows += 1
                expected[group(now), default: Value()].amount += now.amount ?? 0
            }
        }
        let now = values(try await database.figures.answer(question))
        #expect(expected.filter { $0.value != Value() } == now, "\(figure) \(month) seed \(seed)")
    }
}
