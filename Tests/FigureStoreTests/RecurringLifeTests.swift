import Base
import FigureStore
import Figures
import OrderSupport
import Postgres
import PurchaseStore
import TestSupport
import Testing

/// Recurring revenue of random customers against a second way to it.
@Suite("Recurring revenue of random customers")
struct RecurringLifeTests {
    private static let months: [String: Int64] = ["basic": 1, "premium": 1, "yearly": 12]
    /// By default one life in so many is heard.
    private static let share = 60

    @Test(
        "recurring revenue, its movements and churn of random customers are what looking at each day's end makes of their periods, heard in nearly any order and rebuilt"
    )
    func lives() async throws {
        var generator = SeededGenerator()
        let seed = generator.seed
        try await FigureDatabase.with { database in
            let lives = sampledSeeds(of: 1_000, oneIn: UInt64(Self.share)).map { life in
                // Three of four share their accounts with others.
                let accounts = (0...1).map {
                    UniqueIdentifier(high: 0x4000, low: 0x8000_0000_0000_0000 | (life / 4 + $0 * 7))
                }
                return RecurringLife("r\(life)", seed: life, steps: life.isMultiple(of: 5) ? 30 : 8, of: accounts)
            }
            let trials = GrantedTrials(lives.flatMap(\.entries), &generator)
            try await trials.grant(from: 0, database.site)
            // Each is heard in order but for some, as Apple delivers.
            let queues = lives.map { life in
                var entries = life.entries.sorted { ($0.signedAt ?? .distantPast) < ($1.signedAt ?? .distantPast) }
                for place in entries.indices.dropFirst() where Int.random(in: 0..<8, using: &generator) == 0 {
                    entries.swapAt(place, Int.random(in: 0..<place, using: &generator))
                }
                return entries
            }
            let last = queues.map(\.count).max() ?? 0
            try await database.summing(in: ["UTC"]) {
                for step in 0..<last {
                    for batch in queues.compactMap({ $0.count > step ? $0[step] : nil }).batches(of: 50) {
                        try await database.site.apply(batch)
                    }
                    if step == last / 4 {
                        try await database.settle()
                        try await trials.grant(from: 1, database.site)
                    }
                }
                try await database.site.number()
            }
            try await Self.judge(database, "heard, seed \(seed)")
            try await database.summing(in: ["UTC"]) {
                try await database.site.destroy()
                _ = try await database.site.differences(repair: true)
            }
            try await Self.judge(database, "rebuilt, seed \(seed)")
            for (what, floor) in Self.enough {
                let count: Int = try await database.site.value(
                    PostgresQuery(
                        unescaped:
                            "select coalesce(sum(count), 0)::bigint from storehook.figure_cells where measure = '\(what)'"
                    ))
                #expect(isEnough(count, of: floor, oneIn: Self.share), "\(count) \(what), seed \(seed)")
            }
            for (months, floor) in [(1, 200), (6, 30)] {
                let count: Int = try await database.site.value(
                    PostgresQuery(
                        unescaped:
                            "select coalesce(sum(retained), 0)::bigint from storehook.cohort_cells where months = \(months)"
                    ))
                #expect(isEnough(count, of: floor, oneIn: Self.share), "\(count) after \(months) months, seed \(seed)")
            }
        }
    }

    private static func judge(_ database: FigureDatabase, _ when: String) async throws {
        try await database.settle()
        let different = try await database.differences()
        #expect(different.isEmpty, "\(when): \(different.count), \(different.prefix(5))")
        let model = try #require(try await RecurringModel(database.site, months: months, groups: [:]))
        for figure in [Figure.mrr, .mrrMovements, .active, .churn, .retention] {
            let question = FigureQuestion(figure, model.span, by: .month)
            let answered = try await database.figures.answer(question).lines.compactMap { line -> String? in
                // What has no price is apart, and in no currency.
                guard figure == .mrr else { return line }
                let words = line.split(separator: " ")
                return words[1] == "none" ? nil : words.dropLast().joined(separator: " ")
            }
            let expected = model.lines(figure)
            guard answered != expected else { continue }
            let (surplus, lost) = (Set(answered).subtracting(expected), Set(expected).subtracting(answered))
            Issue.record(
                """
                \(when): \(figure), \(answered.count) lines, expected \(expected.count)
                \(surplus.sorted().prefix(6).map { "found \($0)\n" }.joined())\(lost.sorted().prefix(6).map { "expected \($0)\n" }.joined())
                """)
        }
        let value = try await database.figures.answer(FigureQuestion(.lifetimeValue, model.span, by: .month)).lines
        #expect(try await value == model.values(database.site), "\(when): lifetime value")
        let days = CalendarDay(number: model.span.upperBound.number - 60)...model.span.upperBound
        let paid = try await database.figures.answer(FigureQuestion(.freeToPaid, days, by: .month)).lines
        #expect(try await paid == RecurringModel.firstPayments(database.site, days), "\(when): free to paid")
        try await judgePaid(database, model.span, when)
        try await judgeRows(database, model.span, when)
        try await judgeRetained(database, model.span, when)
        let trials = try #require(try await TrialModel(database))
        for figure in [Figure.trials, .trialConversion] {
            let answered = try await database.figures.answer(FigureQuestion(figure, trials.span, by: .month)).lines
            #expect(answered == trials.lines(figure), "\(when): \(figure)")
        }
    }

    /// The sum of the rows is the number.
    private static func judgeRows(
        _ database: FigureDatabase, _ span: ClosedRange<CalendarDay>, _ when: String
    ) async throws {
        let middle = CalendarDay(number: (span.lowerBound.number + span.upperBound.number) / 2)
        let month = FigureMonth(middle).days
        for figure in [Figure.mrr, .mrrMovements, .active] {
            let question = FigureQuestion(figure, month, by: .month)
            let rows = try await database.rows(FigureRowQuestion(question), limit: 500)
            let cells = try await database.figures.answer(question).cells
            for cell in cells {
                let of = rows.filter { figure == .active || ($0.currency ?? "") == cell.currency }
                let sum = figure == .active ? Int64(of.count) : of.reduce(0) { $0 + ($1.amount ?? 0) }
                #expect(figure.columns[0].value(cell.sums) == sum, "\(when): rows of \(figure)")
            }
        }
        for figure in [Figure.mrrMovements, .churn] {
            let question = FigureQuestion(figure, span, by: .month)
            let rows = try await database.rows(FigureRowQuestion(question), limit: 60)
            let count = try await database.figures.answer(question).cells.reduce(0) { sum, cell in
                figure.rowMeasures.reduce(sum) { $0 + cell.sums[$1].count }
            }
            #expect(rows.count == Int(count), "\(when): rows of \(figure)")
            for product in months.keys {
                let narrowed = try await database.rows(FigureRowQuestion(question, productID: product), limit: 25)
                #expect(narrowed == rows.filter { $0.productID == product }, "\(when): \(figure) of \(product)")
            }
        }
    }

    /// Each customer of a share is a row.
    private static func judgeRetained(
        _ database: FigureDatabase, _ span: ClosedRange<CalendarDay>, _ when: String
    ) async throws {
        let question = FigureQuestion(.retention, span, by: .month)
        let cells = try await database.figures.answer(question).cells
        for months in [nil, 0, 1, 6, 24] as [Int?] {
            let rows = try await database.rows(FigureRowQuestion(question, months: months), limit: 500)
            let count = cells.reduce(0) { sum, cell in
                sum + (months.map { cell.sums[months: $0].retained } ?? cell.sums[.customerNew].count)
            }
            #expect(rows.count == Int(count), "\(when): rows of retention, \(months ?? -1)")
        }
    }

    /// What was paid until so many months later is the sum of its rows, and each first payment is one.
    private static func judgePaid(
        _ database: FigureDatabase, _ span: ClosedRange<CalendarDay>, _ when: String
    ) async throws {
        let value = FigureQuestion(.lifetimeValue, span, by: .month)
        let cells = try await database.figures.answer(value).cells
        for months in [nil, 0, 1, 6, 24] as [Int?] {
            let rows = try await database.rows(FigureRowQuestion(value, months: months), limit: 500)
            let sum = cells.reduce(FigureSum()) { $0 + $1.sums.paid(through: months ?? 36) }
            #expect(rows.reduce(0) { $0 + Int128($1.amount ?? 0) } == sum.amount, "\(when): after \(months ?? -1)")
            #expect(rows.count == Int(sum.count), "\(when): rows after \(months ?? -1)")
        }
        let paid = FigureQuestion(.freeToPaid, span, by: .month)
        let count = try await database.figures.answer(paid).cells.reduce(0) { $0 + $1.sums[.accountPaid].count }
        let rows = try await database.rows(FigureRowQuestion(paid), limit: 500)
        #expect(rows.count == Int(count) && count > 0, "\(when): rows of free to paid")
    }

    /// What the lives have to have been about.
    private static let enough = [
        ("new", 500), ("reactivation", 100), ("expansion", 100), ("contraction", 50), ("churn_voluntary", 100),
        ("churn_billing", 50), ("churn_other", 100), ("customer_back_soon", 20), ("customer_back", 100),
        ("trial_converted", 100), ("trial_lapsed", 20), ("own_trial_converted", 30), ("own_trial_lapsed", 20),
    ]
}
