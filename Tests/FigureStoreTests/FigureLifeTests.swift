import Base
import FigureStore
import Figures
import Foundation
import OrderSupport
import Postgres
import TestSupport
import Testing

/// The figures of random customers against what plain SQL makes of the raw facts.
struct FigureLifeTests {
    /// As many lives as `STOREHOOK_TEST_LIVES` says, or those of its range, such as `16000-18000`: twenty thousand keep two cores at work for an
    /// hour.
    private static let seeds =
        ProcessInfo.processInfo.environment["STOREHOOK_TEST_LIVES"].map { asked in
            let bounds = asked.split(separator: "-").compactMap { UInt64($0) }
            return Array((bounds.count > 1 ? bounds[0] : 0)..<(bounds.last ?? 0))
        } ?? sampledSeeds(of: 3_000, oneIn: 100)

    /// The lives of one shop. Each of its days is summed once for each two hundred lives, so that several shops take less time than one.
    private static let shops = seeds.batches(of: 1_000)

    private static let zone = "America/New_York"
    private static let otherZone = "Asia/Kolkata"

    @Test(
        "figures of random lives are what plain SQL makes of their facts, heard in any order, rebuilt, refunded late, and in another zone",
        arguments: shops.indices
    )
    func lives(shop: Int) async throws {
        var generator = SeededGenerator()
        let (seed, now) = (generator.seed, Timestamp(secondsSince1970: Int64(Date.now.timeIntervalSince1970)))
        let seeds = Self.shops[shop]
        let lives = seeds.enumerated().map { place, seed in
            OrderLives.life(seed: seed, now: now).signed(for: GrantedTrials.account(of: place))
        }
        let trials = GrantedTrials(lives.flatMap { $0.entries + [$0.late].compactMap(\.self) }, &generator)
        try await FigureDatabase.with(zone: Self.zone) { database in
            let site = database.site
            try await database.apply(FigureOracle.commission)
            try await trials.grant(from: 0, site)
            try await database.summing(in: [Self.zone]) {
                try await site.hear(lives, size: 200, &generator)
                try await Self.spread(site)
            }
            try await Self.judge(database, in: Self.zone, "heard, seed \(seed)", &generator)

            try await database.summing(in: [Self.zone, Self.otherZone, Self.zone]) {
                try await trials.grant(from: 1, site)
                try await site.destroy()
                _ = try await site.differences(repair: true)
            }
            try await Self.judge(database, in: Self.zone, "rebuilt, seed \(seed)", &generator)

            try await database.summing(in: [Self.zone]) {
                for batch in lives.compactMap(\.late).shuffled(using: &generator).batches(of: 50) {
                    try await site.apply(batch)
                }
                try await site.number()
            }
            try await Self.judge(database, in: Self.zone, by: Self.splits, "refunded late, seed \(seed)", &generator)
            try await Self.judge(database, in: Self.otherZone, "in another zone, seed \(seed)", &generator)
            for (what, query, floor) in Self.enough {
                let count: Int = try await site.value(PostgresQuery(unescaped: query))
                let suffices =
                    takesAllSamples
                    ? count > floor * seeds.count / 20_000
                    : isEnough(count, of: floor, oneIn: max(20_000 / seeds.count, 1))
                #expect(suffices, "\(count) \(what), seed \(seed)")
            }
        }
    }

    // MARK: Parts

    /// Some rows arrived hours or days after they happened, and not now.
    private static func spread(_ site: OrderDatabase) async throws {
        try await site.pool.withTransaction { session in
            try session.executeScript(
                """
                update storehook.booked_transactions
                   set heard_at = least(now(), starts_at + (hashtext(item) & 127) * interval '30 minutes')
                 where hashtext(item || 'x') % 2 = 0;
                update storehook.booked_refunds
                   set heard_at = least(now(), at + (hashtext(item) & 127) * interval '30 minutes')
                 where hashtext(item || 'x') % 3 = 0;
                """)
        }
    }

    private static let splits = [nil] + FigureQuestion.Split.ofRows.map(Optional.some)

    /// What is asked of a figure.
    private struct Asked {
        var environment: String
        var step: FigureQuestion.Step
        var split: FigureQuestion.Split?
    }

    /// Asks each figure in each environment and by each step. By default it asks one in four of these questions, and for the rows of one
    /// environment, chosen by chance.
    /// - Parameter splits: by which it asks, too; without them it asks without a split and by one that is chosen by chance.
    private static func judge(
        _ database: FigureDatabase, in zone: String, by splits: [FigureQuestion.Split?]? = nil, _ when: String,
        _ generator: inout SeededGenerator
    ) async throws {
        try await database.settle(in: zone)
        let found = try await database.differences()
        #expect(found.isEmpty, "\(when): \(found.count), \(found.prefix(5))")
        try await OrderOracle(site: database.site, zone: Self.zone, isDealtMeanwhile: true).derive()
        let oracle = FigureOracle(site: database.site, zone: zone)
        try await oracle.derive()
        let days = try #require(try await oracle.days())
        let environments = ["Production", "Sandbox"]
        let one: [FigureQuestion.Split?] = [nil, FigureQuestion.Split.ofRows.randomElement(using: &generator)]
        let questions = environments.flatMap { environment in
            FigureQuestion.Step.always.flatMap { step in
                (splits ?? one).map { Asked(environment: environment, step: step, split: $0) }
            }
        }
        for figure in Figure.allCases where !figure.isStanding && !figure.isByMonthsLater {
            for asked in sampled(questions, oneIn: 4, using: &generator) {
                let (environment, step, split) = (asked.environment, asked.step, asked.split)
                let span = AskedDays(days, by: step, using: &generator)
                let expected = try await oracle.lines(figure, by: step, split, environment: environment)
                let answered = try await span.lines(
                    FigureQuestion(figure, days, by: step, split, environment: environment), database)
                compare(
                    answered, span.among(expected),
                    "\(when): \(figure) by \(step), \(split.map { "\($0)" } ?? "no split"), \(environment)")
            }
            for environment in sampled(environments, using: &generator) {
                try await judgeRows(database, oracle, figure, days, environment, when)
            }
        }
    }

    /// The rows are those that plain SQL finds, and their sum is the number.
    private static func judgeRows(
        _ database: FigureDatabase, _ oracle: FigureOracle, _ figure: Figure, _ days: ClosedRange<CalendarDay>,
        _ environment: String, _ when: String
    ) async throws {
        let question = FigureQuestion(figure, days, by: .month, environment: environment)
        let rows = try await database.rows(FigureRowQuestion(question), limit: 2_000)
        let expected = try await oracle.rows(figure, environment: environment)
        compare(rows.map(\.line), expected, "\(when): rows of \(figure), \(environment)")
        guard figure.columns.first?.unit == .money else { return }
        var sums: [String: Int64] = [:]
        for row in rows { sums[row.currency ?? "", default: 0] += row.amount ?? 0 }
        var answered: [String: Int64] = [:]
        for cell in try await database.figures.answer(question).cells {
            answered[cell.currency ?? "", default: 0] += figure.columns[0].value(cell.sums) ?? 0
        }
        #expect(sums == answered, "\(when): the sum of the rows of \(figure), \(environment)")
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

    /// What twenty thousand lives have to have been about.
    private static let enough: [(String, String, Int)] = [
        ("reversals", "select count(*) from oracle.figure_rows where measure = 'reversal'", 2_000),
        (
            "refunds of an unknown amount",
            "select count(*) from oracle.figure_rows where measure = 'refund' and amount is null", 400
        ),
        (
            "rows without a price", "select count(*) from oracle.figure_rows where measure = 'sale' and amount is null",
            1_000
        ),
        (
            "sales of later years",
            "select count(*) from oracle.kept where is_later and kind = 'Auto-Renewable Subscription'", 200
        ),
        (
            "own trials that a payment converted",
            "select count(*) from oracle.figure_rows where measure = 'own_trial_converted'", 200
        ),
        (
            "own trials that lapsed", "select count(*) from oracle.figure_rows where measure = 'own_trial_lapsed'", 200
        ),
        (
            "own trials whose payment is refunded",
            "select count(*) from oracle.figure_rows where measure = 'own_trial_refunded'", 20
        ),
        ("free ones", "select count(*) from oracle.figure_rows where measure = 'sale' and amount = 0", 1_000),
        ("rows of Sandbox", "select count(*) from oracle.figure_rows where environment = 'Sandbox'", 5_000),
        ("sales heard late", "select count(*) from oracle.figure_rows where measure = 'late_sale'", 5_000),
        ("refunds heard late", "select count(*) from oracle.figure_rows where measure = 'late_refund'", 2_000),
        ("reversals heard late", "select count(*) from oracle.figure_rows where measure = 'late_reversal'", 500),
        (
            "refunds a year after",
            """
            select count(*) from oracle.given_back g join oracle.sold s using (environment, bundle_id, order_key, transaction_id)
             where g.at > s.at + interval '360 days'
            """, 200
        ),
        (
            "rows on another day elsewhere",
            "select count(*) from oracle.sold where (at at time zone 'America/New_York')::date <> (at at time zone 'Asia/Kolkata')::date",
            5_000
        ),
    ]
}
