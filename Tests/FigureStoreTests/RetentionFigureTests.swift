import AppStorePayloads
import Base
import FigureStore
import Figures
import Foundation
import OrderSupport
import Postgres
import PurchaseStore
import Testing

/// Retention of small shops, worked by hand.
@Suite("Figures of retention")
struct RetentionFigureTests: NoonShop {
    /// A line a cohort: period, app where they are apart, customers, and for each number of months how many of how many are retained.
    private static func kept(
        _ database: FigureDatabase, _ from: String, _ to: String? = nil, by step: FigureQuestion.Step = .month,
        _ split: FigureQuestion.Split? = nil, environment: String = "Production", after months: [Int]
    ) async throws -> [String] {
        let question = try database.question(.retention, from, to, by: step, split, environment: environment)
        return try await database.figures.answer(question).cells.map { cell in
            ([cell.period.description] + [cell.group].compactMap(\.self) + ["\(cell.sums[.customerNew].count)"]
                + months.map { "\($0):\(cell.sums[months: $0].retained)/\(cell.sums[months: $0].due)" })
                .joined(separator: " ")
        }
    }

    private static let months = [
        paid("1", "2023-01-31", "2023-02-28"),
        paid("1", as: "1b", "2023-02-28", "2023-03-31", first: "2023-01-31"),
        paid("1", as: "1c", "2023-03-31", "2023-04-30", first: "2023-01-31"),
    ]

    @Test(
        "the last day of a month, a lapse and a return, grace, a year, weeks, and a trial before the first payment"
    )
    func worked() async throws {
        try await FigureDatabase.with { database in
            for entry in Self.months { try await database.hear(entry) }
            try await database.hear(
                // Nothing from 28 February to 15 March.
                Self.paid("2", "2023-01-31", "2023-02-28"),
                Self.paid("2", as: "2b", "2023-03-15", "2023-04-15", first: "2023-01-31"),
                // A charge that failed, in grace until 26 February.
                Self.paid("3", "2023-01-10", "2023-02-10"),
                Self.paid(
                    "3", "2023-01-10", "2023-02-10", signed: "2023-02-10", status: .gracePeriod, grace: "2023-02-26"),
                Self.paid("3", "2023-01-10", "2023-02-10", signed: "2023-02-26", status: .expired),
                Self.paid("4", "2023-01-05", "2024-01-05", "yearly", price: 100_000),
                // The first payment follows a trial.
                Self.paid("6", "2023-01-25", "2023-02-01", price: 0) {
                    ($0.offerType, $0.offerDiscountType) = (.introductory, .freeTrial)
                },
                Self.paid("6", as: "6b", "2023-02-01", "2023-03-01", first: "2023-01-25"))
            for (place, days) in [("02", "09"), ("09", "16"), ("16", "23"), ("23", "30")].enumerated() {
                try await database.hear(
                    Self.paid(
                        "5", as: place == 0 ? nil : "5-\(place)", "2023-01-\(days.0)", "2023-01-\(days.1)", "week",
                        first: "2023-01-02"))
            }
            try await database.hear(
                Self.paid("5", as: "5-4", "2023-01-30", "2023-02-06", "week", first: "2023-01-02"))
            try await database.settle()
            #expect(
                try await Self.kept(database, "2023-01-01", "2023-02-28", after: [0, 1, 2, 3, 11, 12, 36]) == [
                    "2023-01-01 5 0:5/5 1:4/5 2:3/5 3:1/5 11:1/5 12:0/5 36:0/5",
                    "2023-02-01 1 0:1/1 1:0/1 2:0/1 3:0/1 11:0/1 12:0/1 36:0/1",
                ])
            #expect(
                try await Self.kept(database, "2023-01-10", "2023-01-31", by: .day, after: [0, 1, 2, 3]) == [
                    "2023-01-10 1 0:1/1 1:1/1 2:0/1 3:0/1", "2023-01-31 2 0:2/2 1:1/2 2:2/2 3:0/2",
                ])
            let answer = try await database.figures.answer(
                database.question(.retention, "2023-01-01", "2023-01-31", by: .month))
            let sums = try #require(answer.cells.first).sums
            func value(_ name: String) -> Int64? {
                Figure.retention.columns.first { $0.name == name }?.value(sums)
            }
            #expect(value("customers") == 5 && value("m0") == 100_000 && value("m2") == 60_000)
            #expect(value("retained1") == 4 && value("due1") == 5 && value("m12") == 0)
            // Each opens to its customers, by their first payments.
            let question = try database.question(.retention, "2023-01-01", "2023-01-31", by: .month)
            for (months, transactions) in [
                (nil, ["5", "4", "3", "1", "2"]), (1, ["5", "4", "3", "1"]), (2, ["4", "1", "2"]), (12, []),
            ] as [(Int?, [String])] {
                for limit in [1, 2, 100] {
                    let rows = try await database.rows(FigureRowQuestion(question, months: months), limit: limit)
                    #expect(rows.map(\.transactionID) == transactions, "\(months ?? -1), \(limit)")
                    #expect(rows.allSatisfy { $0.measure == .customerNew })
                }
            }
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("a full refund and a renewal that arrive a year late change the month of the first payment")
    func heardLate() async throws {
        try await FigureDatabase.with { database in
            func kept() async throws -> [String] {
                try await database.settle()
                #expect(try await database.differences().isEmpty)
                return try await Self.kept(database, "2023-01-01", "2023-12-31", after: [0, 1, 5, 6, 11, 12])
            }
            try await database.hear(Self.paid("4", "2023-01-05", "2024-01-05", "yearly", price: 100_000))
            #expect(try await kept() == ["2023-01-01 1 0:1/1 1:1/1 5:1/1 6:1/1 11:1/1 12:0/1"])
            try await database.hear(
                Self.paid("4", as: "4b", "2024-01-05", "2025-01-05", "yearly", price: 100_000, first: "2023-01-05"))
            #expect(try await kept() == ["2023-01-01 1 0:1/1 1:1/1 5:1/1 6:1/1 11:1/1 12:1/1"])
            try await database.hear(
                Self.paid("4", "2023-01-05", "2024-01-05", "yearly", price: 100_000, signed: "2024-07-01") {
                    $0.revocationDate = Self.noon("2023-06-20")
                })
            #expect(try await kept() == ["2023-01-01 1 0:1/1 1:1/1 5:1/1 6:0/1 11:0/1 12:1/1"])
            // A payment before: the customer is one of December.
            try await database.hear(Self.paid("4", as: "4a", "2022-12-03", "2023-01-05", first: "2022-12-03"))
            #expect(try await kept() == [])
            #expect(
                try await Self.kept(database, "2022-12-01", "2022-12-31", after: [0, 1, 6, 7])
                    == ["2022-12-01 1 0:1/1 1:1/1 6:1/1 7:0/1"])
        }
    }

    @Test("two purchases of an account are one customer, and one that becomes another account's is one of its own")
    func accounts() async throws {
        try await FigureDatabase.with { database in
            func kept() async throws -> [String] {
                try await database.settle()
                #expect(try await database.differences().isEmpty)
                return try await Self.kept(database, "2023-01-01", "2023-03-31", after: [0, 1, 2, 3])
            }
            try await database.hear(
                Self.paid("1", "2023-01-10", "2023-02-10", of: Self.account),
                Self.paid("2", "2023-02-05", "2023-04-05", of: Self.account))
            #expect(try await kept() == ["2023-01-01 1 0:1/1 1:1/1 2:1/1 3:0/1"])
            try await database.hear(
                Self.paid("2", as: "2b", "2023-04-05", "2023-05-05", of: Self.other, first: "2023-02-05"))
            #expect(
                try await kept() == ["2023-01-01 1 0:1/1 1:0/1 2:0/1 3:0/1", "2023-02-01 1 0:1/1 1:1/1 2:1/1 3:0/1"])
        }
    }

    @Test("apps are apart where they are asked for, and environments always")
    func parts() async throws {
        try await FigureDatabase.with { database in
            for entry in Self.months { try await database.hear(entry) }
            try await database.hear(
                Self.paid("7", "2023-01-20", "2023-02-20", app: "com.example.other"),
                Self.paid("8", "2023-01-20", "2023-03-20", environment: "Sandbox"))
            try await database.settle()
            #expect(
                try await Self.kept(database, "2023-01-01", nil, by: .month, .app, after: [0, 1])
                    == ["2023-01-01 com.example.app 1 0:1/1 1:1/1", "2023-01-01 com.example.other 1 0:1/1 1:0/1"])
            #expect(
                try await Self.kept(database, "2023-01-01", environment: "Sandbox", after: [1, 2])
                    == ["2023-01-01 1 1:1/1 2:0/1"])
            #expect(throws: FigureQuestion.NoSplit.self) {
                try database.question(.retention, "2023-01-01", by: .month, .product).check()
            }
        }
    }

    @Test("at an instant, those customers are due whose day had ended, and what was paid until then counts")
    func then() async throws {
        try await FigureDatabase.with { database in
            for entry in Self.months { try await database.hear(entry) }
            try await database.hear(Self.paid("2", "2023-01-28", "2023-03-28"))
            try await database.settle()
            func question(
                _ figure: Figure, _ from: String, by step: FigureQuestion.Step, _ instant: String
            ) async throws -> FigureQuestion {
                try #require(
                    try await database.figures.question(
                        figure, from: FigureBound(from), to: FigureBound("2023-12-31"), by: step,
                        at: Timestamp(iso8601: instant)))
            }
            for (instant, due, rows, paid) in [
                ("2023-02-28T23:59:59Z", 0, 0, 2), ("2023-03-01T00:00:00Z", 2, 2, 3), ("2023-01-31T12:00:00Z", 0, 0, 1),
            ] as [(String, Int64, Int, Int)] {
                let asked = try await question(.retention, "2023-01-01", by: .day, instant)
                let cells = try await database.figures.answer(asked).cells
                #expect(cells.count == (instant < "2023-02" ? 1 : 2), "\(instant)")
                let sums = cells.reduce(into: FigureSums()) { $0.add($1.sums) }
                #expect(sums[months: 0].due == Int64(cells.count) && sums[months: 1].due == due, "\(instant)")
                let found = try await database.rows(FigureRowQuestion(asked, months: 1))
                #expect(found.count == rows, "\(instant): \(found)")
                let values = try await question(.lifetimeValue, "2023-01-01", by: .day, instant)
                let payments = try await database.rows(FigureRowQuestion(values))
                #expect(payments.count == paid, "\(instant): \(payments)")
                let first = try #require(try await database.figures.answer(values).cells.first).sums
                let value = try #require(Figure.lifetimeValue.columns.first { $0.name == "m1" }).value(first)
                #expect(value == (due == 0 ? nil : 9_990), "\(instant)")
            }
            let ended = try await question(.retention, "2023-01-01", by: .month, "2023-03-30T00:00:00Z")
            #expect(ended.days.upperBound == CalendarDay("2023-02-28") && !ended.isNothing)
            let nothing = try await question(.lifetimeValue, "2023-06-01", by: .month, "2023-03-30T00:00:00Z")
            #expect(nothing.isNothing)
            #expect(try await database.figures.answer(nothing).cells.isEmpty)
            #expect(try await database.rows(FigureRowQuestion(nothing)).isEmpty)
        }
    }

    @Test("time alone makes customers due, also those of several days at the end of a short month")
    func turning() async throws {
        try await FigureDatabase.with { database in
            for entry in Self.months { try await database.hear(entry) }
            try await database.hear(Self.paid("2", "2023-01-28", "2023-03-28"))
            try await database.settle()
            let tables = try await database.tables()
            #expect(
                try await Self.kept(database, "2023-01-28", "2023-01-31", by: .day, after: [0, 1])
                    == ["2023-01-28 1 0:1/1 1:1/1", "2023-01-31 1 0:1/1 1:1/1"])
            // As months and years later: nothing of the books changed meanwhile, so that nothing is marked.
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    delete from storehook.cohort_cells where months > 0;
                    update storehook.figure_state set turned_until = '2023-02-28 23:00Z';
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC"))
            try await database.settle()
            #expect(try await !database.figures.isDue(in: "UTC"))
            #expect(try await database.tables() == tables)
        }
    }

    @Test("a day of customers is due when it has ended, and a month is complete when all of its days are")
    func open() async throws {
        try await FigureDatabase.with { database in
            let now = Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970))
            let today = try await database.figures.today()
            let midnight = Timestamp(millisecondsSince1970: today.number * 86_400_000)
            try await database.hear(
                Shop.entry("1", at: midnight.adding(days: -40), days: 100),
                Shop.entry("2", at: midnight.adding(seconds: -3600)), Shop.entry("3", at: now.adding(seconds: -1)))
            try await database.settle()
            func answer(_ days: ClosedRange<CalendarDay>) async throws -> FigureSums {
                let cells = try await database.figures.answer(FigureQuestion(.retention, days, by: .day)).cells
                return cells.reduce(into: FigureSums()) { $0.add($1.sums) }
            }
            let all = try await answer(CalendarDay(number: today.number - 60)...today)
            let due = (0...2).map { all[months: $0].due }
            #expect(all[.customerNew].count == 3 && due == [2, 1, 0])
            let columns = Dictionary(uniqueKeysWithValues: Figure.retention.columns.map { ($0.name, $0) })
            #expect(columns["m1"]?.value(all) == 100_000 && columns["m1"]?.isPartial(all) == true)
            #expect(columns["m2"]?.value(all) == nil && columns["retained2"]?.value(all) == nil)
            let first = try await answer(
                CalendarDay(number: today.number - 40)...CalendarDay(number: today.number - 40))
            #expect(columns["m1"]?.isPartial(first) == false)
            // A day that ended is looked for once.
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    delete from storehook.cohort_cells;
                    update storehook.figure_state set turned_until = date_trunc('day', now(), 'UTC') - interval '2 minutes';
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC"))
            try await database.settle()
            #expect(try await !database.figures.isDue(in: "UTC"))
            #expect(
                try await database.site.texts(
                    """
                    select ((now() at time zone 'UTC')::date - day) || ' ' || months
                      from storehook.cohort_cells where day > (now() at time zone 'UTC')::date - 10
                    """) == ["1 0"])
        }
    }

    @Test(
        "a renewal that arrives at its time does not mark the first payment, and one that arrives after the day some months later does"
    )
    func marks() async throws {
        // It is noon in this zone, or an hour later at most.
        let hour = Int(Date.now.timeIntervalSince1970) / 3600 % 24 - 12
        let zone = hour < 0 ? "Etc/GMT\(hour)" : "Etc/GMT+\(hour)"
        try await FigureDatabase.with(zone: zone) { database in
            let today = try await database.figures.today()
            let place = today.number - FigureMonth(today).days.lowerBound.number
            // The same day of an earlier month that has one.
            let before = try #require(
                (1...12).lazy.compactMap { FigureMonth(today).advanced(by: -$0)?.days }.first {
                    $0.lowerBound.number + place <= $0.upperBound.number
                })
            let length = today.number - before.lowerBound.number - place
            let now = Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970))
            /// Whether the hour of the first payment is marked.
            func marked(_ line: String, renewedAt renewal: Timestamp) async throws -> Bool {
                let first = renewal.adding(days: -length)
                try await database.hear(Shop.entry(line, at: first, days: length))
                try await database.settle(in: zone)
                #expect(try await !database.figures.isDue(in: zone))
                try await database.hear(
                    Shop.entry(line, "\(line)b", at: renewal, days: 60, renewal: true, first: first))
                let instant = PostgresTimestamp(millisecondsSince1970: first.millisecondsSince1970)
                let isMarked: Bool = try await database.site.value(
                    "select exists (select from storehook.figure_marks where hour = date_trunc('hour', \(instant)::timestamptz, 'UTC'))"
                )
                try await database.settle(in: zone)
                #expect(try await database.differences().isEmpty)
                return isMarked
            }
            #expect(try await !marked("1", renewedAt: now.adding(seconds: -5400)))
            #expect(try await marked("2", renewedAt: now.adding(days: -40)))
        }
    }

    @Test("cells and cohorts of a day come out of one statement, which reads the movements once")
    func once() async throws {
        try await FigureDatabase.with { database in
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    create table storehook.written (place text, at timestamptz);
                    create function storehook.note() returns trigger language plpgsql as
                    'begin insert into storehook.written values (tg_table_name, statement_timestamp()); return null; end';
                    create trigger note after insert on storehook.figure_cells for each statement execute function storehook.note();
                    create trigger note after insert on storehook.cohort_cells for each statement execute function storehook.note();
                    """)
            }
            for entry in Self.months { try await database.hear(entry) }
            try await database.settle()
            #expect(try await Self.kept(database, "2023-01-01", after: [0, 1]) == ["2023-01-01 1 0:1/1 1:1/1"])
            #expect(
                try await database.site.value(
                    """
                    select count(*) > 0 and count(*) = count(f.at)
                      from storehook.written c left join storehook.written f on f.place = 'figure_cells' and f.at = c.at
                     where c.place = 'cohort_cells'
                    """))
        }
    }

    @Test("a database of before has its cohorts summed by the first worker that knows of them, once")
    func earlier() async throws {
        try await FigureDatabase.with { database in
            for entry in Self.months { try await database.hear(entry) }
            try await database.settle()
            let tables = try await database.tables()
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    "delete from storehook.cohort_cells; update storehook.figure_state set content = 3")
            }
            #expect(try await database.figures.isDue(in: "UTC"))
            try await database.settle()
            #expect(try await database.tables() == tables)
            #expect(try await !database.figures.isDue(in: "UTC"))
        }
    }
}
