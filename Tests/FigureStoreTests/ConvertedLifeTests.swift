import Base
import FigureStore
import Figures
import Foundation
import OrderSupport
import Postgres
import TestSupport
import Testing

/// Figures of random customers in one currency, by random rates with gaps, against plain SQL.
struct ConvertedLifeTests {
    private static let seeds = sampledSeeds(of: 2_000, oneIn: 100)
    private static let zone = "America/New_York"

    @Test(
        "converted figures of random lives are what plain SQL makes of their facts and rates: kept, from cells, with corrected rates, in another currency and zone"
    )
    func lives() async throws {
        var generator = SeededGenerator()
        let (seed, now) = (generator.seed, Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970)))
        let lives = Self.seeds.map { OrderLives.life(seed: $0, now: now) }
        try await FigureDatabase.with(zone: Self.zone) { database in
            try await database.apply(FigureOracle.commission)
            try await database.site.hear(lives, size: 200, &generator)
            try await database.settle(in: Self.zone)
            let plain = try await database.tables()
            try await Self.addRates(database, &generator)
            try await Self.judge(database, in: Self.zone, kept: nil, "EUR", "from cells, seed \(seed)", &generator)
            try await database.settle(in: Self.zone, currency: "EUR")
            try await Self.judge(database, in: Self.zone, kept: "EUR", "EUR", "kept, seed \(seed)", &generator)
            try await Self.judge(
                database, in: Self.zone, kept: "EUR", "JPY", "other than kept, seed \(seed)", &generator)

            // Other rates and more of them, and lives that go on.
            try await Self.addRates(database, &generator)
            for batch in lives.compactMap(\.late).shuffled(using: &generator).batches(of: 50) {
                try await database.site.apply(batch)
            }
            try await database.site.number()
            try await database.settle(in: Self.zone, currency: "EUR")
            try await Self.judge(database, in: Self.zone, kept: "EUR", "EUR", "corrected, seed \(seed)", &generator)
            #expect(try await database.tables() != plain)
            try await database.settle(in: "Asia/Kolkata", currency: "JPY")
            try await Self.judge(
                database, in: "Asia/Kolkata", kept: "JPY", "JPY", "elsewhere, seed \(seed)", &generator)
        }
    }

    // MARK: Parts

    /// Rates of three currencies for most days, which some of the days have already.
    private static func addRates(
        _ database: FigureDatabase, _ generator: inout SeededGenerator
    ) async throws {
        let row = try await database.site.pool.query(
            "select min(starts_at)::date::text, max(starts_at)::date::text from storehook.booked_transactions"
        ).one()
        let first = try #require(CalendarDay(row.decode(0, as: String.self)))
        let last = try #require(CalendarDay(row.decode(1, as: String.self)))
        var (lines, gap) = ([String](), Int64(0))
        // The first days have none.
        for number in first.number + (last.number - first.number) / 6...last.number {
            // Now and then a gap of days that no rate covers.
            if Int.random(in: 0..<60, using: &generator) == 0 { gap = Int64.random(in: 4...20, using: &generator) }
            gap -= 1
            guard gap < 0 else { continue }
            for (currency, most) in [("USD", 1_500_000_000), ("JPY", 180_000_000_000), ("GBP", 900_000_000)]
            where Int.random(in: 0..<3, using: &generator) > 0 {
                // Some of them make halves.
                let rate = [
                    Int64.random(in: 1...Int64(most), using: &generator), 2_000_000_000, 1_250_000_000,
                ].randomElement(using: &generator)
                guard let rate = rate.flatMap({ EuroRate(billionths: $0) }) else { continue }
                lines.append("\(CalendarDay(number: number)) \(currency) \(rate)")
            }
        }
        try await database.take(lines)
    }

    /// What is asked of a figure.
    private struct Asked {
        var environment: String
        var step: FigureQuestion.Step
        var split: FigureQuestion.Split?
    }

    /// Asks each figure in each environment, by each step, without a split and by one of them. By default it asks one in four of these questions,
    /// chosen by chance.
    /// - Parameter kept: the reporting currency.
    private static func judge(
        _ database: FigureDatabase, in zone: String, kept: String?, _ currency: String, _ when: String,
        _ generator: inout SeededGenerator
    ) async throws {
        let found = try await database.differences()
        #expect(found.isEmpty, "\(when): \(found.count), \(found.prefix(5))")
        try await OrderOracle(site: database.site, zone: Self.zone, isDealtMeanwhile: true).derive()
        let oracle = FigureOracle(site: database.site, zone: zone)
        try await oracle.derive()
        try await oracle.convert(to: currency)
        let counts = try await oracle.conversions()
        #expect(counts.converted > 2 * seeds.count && counts.lost > seeds.count / 10, "\(when): \(counts)")
        let days = try #require(try await oracle.days())
        for figure in Figure.allCases where figure.isMoney && !figure.isStanding && !figure.isByMonthsLater {
            let splits: [FigureQuestion.Split?] = [
                nil, FigureQuestion.Split.ofRows.randomElement(using: &generator),
            ]
            let questions = splits.flatMap { split in
                FigureQuestion.Step.always.flatMap { step in
                    ["Production", "Sandbox"].map { Asked(environment: $0, step: step, split: split) }
                }
            }
            for asked in sampled(questions, oneIn: 4, using: &generator) {
                let (environment, step, split) = (asked.environment, asked.step, asked.split)
                let span = AskedDays(days, by: step, using: &generator)
                let expected = try await oracle.lines(
                    figure, by: step, split, environment: environment, isConverted: true)
                let answered = try await span.lines(
                    FigureQuestion(figure, days, by: step, split, environment: environment, in: currency), database)
                compare(
                    answered, span.among(expected),
                    "\(when): \(figure) by \(step), \(split.map { "\($0)" } ?? "no split"), \(environment)")
            }
            try await judgeRows(database, figure, days, currency, when)
        }
    }

    /// The sum of the rows is the number.
    private static func judgeRows(
        _ database: FigureDatabase, _ figure: Figure, _ days: ClosedRange<CalendarDay>, _ currency: String,
        _ when: String
    ) async throws {
        guard figure.columns.first?.unit == .money else { return }
        let question = FigureQuestion(figure, days, by: .month, in: currency)
        let rows = try await database.rows(FigureRowQuestion(question), limit: 2_000)
        let answer = try await database.figures.answer(question)
        let sum = answer.cells.filter { !$0.isUnconverted }.reduce(Int64(0)) { sum, cell in
            sum + (figure.columns[0].value(cell.sums) ?? 0)
        }
        #expect(rows.reduce(0) { $0 + ($1.converted ?? 0) } == sum, "\(when): the sum of the rows of \(figure)")
        let lost = rows.filter { $0.converted == nil && $0.amount != nil }
        #expect(Int64(lost.count) == answer.unconverted.reduce(0) { $0 + $1.count }, "\(when): \(figure)")
        #expect(
            lost.reduce(0) { $0 + ($1.amount ?? 0) } == answer.unconverted.reduce(0) { $0 + $1.amount },
            "\(when): \(figure)")
    }

    private static func compare(_ found: [String], _ expected: [String], _ what: String) {
        guard found.sorted() != expected.sorted() else { return }
        let (surplus, lost) = (Set(found).subtracting(expected), Set(expected).subtracting(found))
        Issue.record(
            """
            \(what): \(found.count) lines, expected \(expected.count)
            \(surplus.sorted().prefix(8).map { "found \($0)\n" }.joined())\(lost.sorted().prefix(8).map { "expected \($0)\n" }.joined())
            """)
    }
}
