import Accounts
import AppStorePayloads
import Base
import FigureStore
import Figures
import Foundation
import OrderSupport
import Pipeline
import Postgres
import PurchaseStore
import Testing

/// Lifetime value of small shops, worked by hand.
@Suite("Figures of lifetime value")
struct LifetimeValueTests: NoonShop {
    /// A line a cohort and currency: period, app where they are apart, currency, customers, and for each number of months what one paid and
    /// what all did.
    private static func values(
        _ database: FigureDatabase, _ from: String, _ to: String? = nil, by step: FigureQuestion.Step = .month,
        _ split: FigureQuestion.Split? = nil, environment: String = "Production", in currency: String? = nil,
        after months: [Int]
    ) async throws -> [String] {
        let question = try database.question(
            .lifetimeValue, from, to, by: step, split, environment: environment, in: currency)
        let columns = Dictionary(uniqueKeysWithValues: Figure.lifetimeValue.columns.map { ($0.name, $0) })
        return try await database.figures.answer(question).cells.map { cell in
            func word(_ name: String) -> String { columns[name]?.value(cell.sums).map { "\($0)" } ?? "-" }
            return
                ([cell.period.description, cell.group, (cell.currency ?? "") + (cell.isUnconverted ? "!" : "")]
                .compactMap(\.self) + [word("customers")]
                + months.map { "\($0):\(word("m\($0)"))/\(word("total\($0)"))" })
                .joined(separator: " ")
        }
    }

    private static let months = [
        paid("1", "2023-01-31", "2023-02-28"),
        paid("1", as: "1b", "2023-02-28", "2023-03-31", first: "2023-01-31"),
        paid("1", as: "1c", "2023-03-31", "2023-04-30", first: "2023-01-31"),
    ]
    private static let years = [
        paid("4", "2023-01-05", "2024-01-05", "yearly", price: 100_000),
        paid("4", as: "4b", "2024-01-05", "2025-01-05", "yearly", price: 100_000, first: "2023-01-05"),
    ]

    @Test("the last day of a month, a renewal after a year, and a refund a year later, each on its own day")
    func worked() async throws {
        try await FigureDatabase.with { database in
            for entry in Self.months + Self.years { try await database.hear(entry) }
            // What was bought once is not in it.
            try await database.hear(Shop.coins("c", at: Self.noon("2023-01-06")))
            try await database.settle()
            #expect(
                try await Self.values(database, "2023-01-01", "2023-12-31", after: [0, 1, 2, 11, 12, 18]) == [
                    "2023-01-01 USD 2 0:54995/109990 1:59990/119980 2:64985/129970 11:64985/129970 12:114985/229970 18:114985/229970"
                ])
            try await database.hear(
                Self.paid(
                    "4", "2023-01-05", "2024-01-05", "yearly", price: 100_000, signed: "2024-06-20",
                    refunded: "2024-06-20"))
            try await database.settle()
            #expect(try await database.differences().isEmpty)
            #expect(
                try await Self.values(database, "2023-01-01", "2023-12-31", after: [2, 12, 17, 18]) == [
                    "2023-01-01 USD 2 2:64985/129970 12:114985/229970 17:114985/229970 18:64985/129970"
                ])
            #expect(
                try await Self.values(database, "2023-01-05", "2023-01-31", by: .day, after: [0, 1, 18]) == [
                    "2023-01-05 USD 1 0:100000/100000 1:100000/100000 18:100000/100000",
                    "2023-01-31 USD 1 0:9990/9990 1:19980/19980 18:29970/29970",
                ])
            // Each opens to what was paid, in pages, and the sum of the rows is the number.
            let question = try database.question(.lifetimeValue, "2023-01-01", "2023-01-31", by: .month)
            for (months, transactions) in [
                (0, ["4", "1"]), (1, ["4", "1", "1b"]), (12, ["4", "1", "1b", "1c", "4b"]),
                (nil, ["4", "1", "1b", "1c", "4b", "4"]),
            ] as [(Int?, [String])] {
                for limit in [1, 2, 100] {
                    let rows = try await database.rows(FigureRowQuestion(question, months: months), limit: limit)
                    #expect(rows.map(\.transactionID) == transactions, "\(months ?? -1), \(limit)")
                    #expect(
                        rows.reduce(0) { $0 + ($1.amount ?? 0) } == [0: 109_990, 1: 119_980, 12: 229_970][months ?? 36]
                            ?? 129_970)
                }
            }
        }
    }

    @Test("a payment before the first one that arrives late moves all payments to its own month")
    func heardLate() async throws {
        try await FigureDatabase.with { database in
            for entry in Self.years { try await database.hear(entry) }
            try await database.settle()
            try await database.hear(Self.paid("4", as: "4a", "2022-12-03", "2023-01-05", first: "2022-12-03"))
            try await database.settle()
            #expect(try await database.differences().isEmpty)
            #expect(try await Self.values(database, "2023-01-01", "2023-12-31", after: [0]).isEmpty)
            #expect(
                try await Self.values(database, "2022-12-01", "2022-12-31", after: [0, 1, 2, 13, 14])
                    == ["2022-12-01 USD 1 0:9990/9990 1:9990/9990 2:109990/109990 13:109990/109990 14:209990/209990"])
        }
    }

    @Test("purchases of an account are one customer's until one becomes another account's; an erased account stays")
    func accounts() async throws {
        try await FigureDatabase.with { database in
            func values() async throws -> [String] {
                try await database.settle()
                #expect(try await database.differences().isEmpty)
                return try await Self.values(database, "2023-01-01", "2023-03-31", after: [0, 1, 2])
            }
            try await database.hear(
                Self.paid("1", "2023-01-10", "2023-02-10", of: Self.account),
                Self.paid("2", "2023-02-05", "2023-04-05", of: Self.account))
            #expect(try await values() == ["2023-01-01 USD 1 0:9990/9990 1:19980/19980 2:19980/19980"])
            try await database.hear(
                Self.paid("2", as: "2b", "2023-04-05", "2023-05-05", of: Self.other, first: "2023-02-05"))
            let moved = [
                "2023-01-01 USD 1 0:9990/9990 1:9990/9990 2:9990/9990",
                "2023-02-01 USD 1 0:9990/9990 1:9990/9990 2:19980/19980",
            ]
            #expect(try await values() == moved)
            let account = AccountIdentity(token: Self.account)
            #expect(try await EvidencePipeline(database.site.pool).erase(account, by: "staff") != nil)
            #expect(try await values() == moved)
        }
    }

    @Test("apps are apart where they are asked for, environments and currencies always")
    func parts() async throws {
        try await FigureDatabase.with { database in
            for entry in Self.months { try await database.hear(entry) }
            try await database.hear(
                Self.paid("7", "2023-01-20", "2023-02-20", price: 5, app: "com.example.other"),
                Self.paid("8", "2023-01-20", "2023-03-20", environment: "Sandbox"),
                Self.paid("9", "2023-01-20", "2023-02-20", price: 4_000, "EUR"))
            try await database.settle()
            #expect(
                try await Self.values(database, "2023-01-01", after: [0, 1])
                    == ["2023-01-01 EUR 3 0:1333/4000 1:1333/4000", "2023-01-01 USD 3 0:3332/9995 1:6662/19985"])
            #expect(
                try await Self.values(database, "2023-01-01", nil, by: .month, .app, after: [1]) == [
                    "2023-01-01 com.example.app EUR 2 1:2000/4000", "2023-01-01 com.example.app USD 2 1:9990/19980",
                    "2023-01-01 com.example.other USD 1 1:5/5",
                ])
            #expect(
                try await Self.values(database, "2023-01-01", environment: "Sandbox", after: [0])
                    == ["2023-01-01 USD 1 0:9990/9990"])
            #expect(throws: FigureQuestion.NoSplit.self) {
                try database.question(.lifetimeValue, "2023-01-01", by: .month, .product).check()
            }
        }
    }

    @Test("a refund has the rate of its purchase, and what has none is apart in its own currency")
    func converted() async throws {
        try await FigureDatabase.with { database in
            try await database.take("2023-01-05 USD 1.25", "2023-02-10 USD 2")
            try await database.hear(
                Self.paid("1", "2023-01-05", "2023-02-05", price: 10_000),
                Self.paid("1", "2023-01-05", "2023-02-05", price: 10_000, signed: "2023-02-10", refunded: "2023-02-10"),
                Self.paid("2", "2023-01-06", "2023-02-06", price: 10_000),
                Self.paid("3", "2023-01-06", "2023-02-06", price: 7_000, "CHF"))
            for currency in [nil, "EUR"] {
                try await database.settle(currency: currency)
                #expect(
                    try await Self.values(database, "2023-01-01", in: "EUR", after: [0, 1, 2]) == [
                        "2023-01-01 EUR 3 0:5333/16000 1:5333/16000 2:2667/8000",
                        "2023-01-01 CHF! 3 0:2333/7000 1:2333/7000 2:2333/7000",
                    ])
                #expect(
                    try await Self.values(database, "2023-01-01", "2023-01-31", by: .day, in: "EUR", after: [0, 1, 2])
                        == [
                            "2023-01-05 EUR 1 0:8000/8000 1:8000/8000 2:0/0",
                            "2023-01-06 EUR 2 0:4000/8000 1:4000/8000 2:4000/8000",
                            "2023-01-06 CHF! 2 0:3500/7000 1:3500/7000 2:3500/7000",
                        ])
            }
            let kept = try await database.conversions()
            #expect(kept.contains { $0.hasPrefix("paid day ") } && kept.contains { $0.contains("cohort_day") })
            // The release before kept no sums of days. The first worker that does has its currencies begin anew, and sums no day anew.
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    delete from storehook.currency_value_days; delete from storehook.currency_values where grain <> 'cohort';
                    update storehook.figure_state set content = 6;
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC", currency: "EUR"))
            try await database.settle(currency: "EUR")
            #expect(try await database.conversions() == kept)
            #expect(try await database.differences().isEmpty)
            let question = try database.question(.lifetimeValue, "2023-01-01", by: .month, in: "EUR")
            #expect(
                try await database.figures.answer(question).unconverted
                    == [FigureAnswer.Unconverted(currency: "CHF", count: 1, amount: 7_000)])
            let rows = try await database.rows(FigureRowQuestion(question))
            #expect(rows.map(\.converted) == [8_000, 8_000, nil, -8_000])
        }
    }

    @Test("a value stands once its day has ended for all customers of the cohort")
    func open() async throws {
        try await FigureDatabase.with { database in
            let today = try await database.figures.today()
            let midnight = Timestamp(millisecondsSince1970: today.number * 86_400_000)
            try await database.hear(
                Shop.entry("1", at: midnight.adding(days: -40), days: 100),
                Shop.entry("2", at: midnight.adding(seconds: -3600)))
            try await database.settle()
            let first = CalendarDay(number: today.number - 40).description
            #expect(
                try await Self.values(database, first, today.description, by: .day, after: [0, 1, 2]) == [
                    "\(first) USD 1 0:9990/9990 1:9990/9990 2:-/-",
                    "\(CalendarDay(number: today.number - 1)) USD 1 0:9990/9990 1:-/- 2:-/-",
                ])
        }
    }

    @Test("a renewal that arrives at its time marks no earlier day")
    func marks() async throws {
        try await FigureDatabase.with { database in
            let start = Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970) - 5)
            let first = start.adding(days: -360)
            for month in 0..<12 as Range<Int64> {
                try await database.hear(
                    Shop.entry(
                        "1", month == 0 ? nil : "1-\(month)", at: first.adding(days: month * 30), renewal: month > 0,
                        first: first
                    ) { $0.appAccountToken = Self.account })
            }
            try await database.settle()
            try await database.hear(
                Shop.entry("1", "1-12", at: start, renewal: true, first: first) {
                    $0.appAccountToken = Self.account
                })
            let marked: Int = try await database.site.value(
                """
                select count(*) from storehook.figure_marks
                 where hour < now() - interval '3 hours' or day < (now() at time zone 'UTC')::date - 1
                """)
            #expect(marked == 0)
            try await database.settle()
            #expect(try await database.differences().isEmpty)
        }
    }

    @Test("a database of before has what customers paid summed by the first worker that knows of it")
    func earlier() async throws {
        try await FigureDatabase.with { database in
            for entry in Self.months { try await database.hear(entry) }
            try await database.settle()
            let tables = try await database.tables()
            try await database.site.pool.withTransaction {
                try $0.executeScript(
                    """
                    delete from storehook.value_cells; delete from storehook.value_sums;
                    update storehook.figure_state set content = 5;
                    """)
            }
            #expect(try await database.figures.isDue(in: "UTC"))
            try await database.settle()
            #expect(try await database.tables() == tables)
        }
    }
}
