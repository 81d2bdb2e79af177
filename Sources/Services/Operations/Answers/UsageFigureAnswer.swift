package import AccountStore
import Accounts
package import Base
package import FigureStore

/// The accounts' usage of the catalog's features, by period, feature and tier.
package struct UsageFigure: Sendable {
    /// The usage of one feature by accounts of one tier, in a period.
    package struct Line: Sendable {
        /// The period as people write it.
        package let period: String
        /// The usage.
        package let usage: UsageDay
        /// Whether the period has not ended.
        package let isRunning: Bool
    }

    /// The days. Months are whole.
    package let days: ClosedRange<CalendarDay>
    /// The periods.
    package let step: CalendarStep
    /// By period, feature and tier.
    package let lines: [Line]
    /// The number of periods that have ended without a count.
    package let missing: Int

    /// Its definition.
    package static let about =
        "The usage of each feature, by the accounts' tier in Production at the day's end, of days that have ended. For a feature that is counted by day, used is the sum of the days. For one that is counted by month, used is the usage of the month so far; for one that is counted in total, the usage so far: both at the latest counted day. Reports are accepted up to 35 days later: until then a value is not complete. Refused calls are not counted."

    /// The usage of some days.
    /// - Parameter until: only periods that end by this day; nil for all.
    /// - Throws: ``TooManyCells``; `PostgresError`.
    package init(
        _ days: ClosedRange<CalendarDay>, by step: CalendarStep, today: CalendarDay, until: CalendarDay? = nil,
        _ usage: Usage
    ) async throws {
        let days = step.whole(days)
        guard step.count(of: days) <= FigureQuestion.mostCells else { throw TooManyCells() }
        let periods = step.periods(of: days).filter { period in until.map { period.upperBound <= $0 } ?? true }
        let ends = Dictionary(uniqueKeysWithValues: periods.map { ($0.lowerBound, $0.upperBound) })
        let found = try await usage.days(days, byMonth: step == .month, atMost: FigureQuestion.mostCells)
        guard found.usage.count <= FigureQuestion.mostCells else { throw TooManyCells() }
        (self.days, self.step) = (days, step)
        lines = found.usage.filter { ends[$0.period] != nil }.map { used in
            Line(
                period: step.name(of: used.period), usage: used,
                isRunning: ends[used.period].map { $0 >= today } ?? false)
        }
        missing = periods.count { $0.upperBound < today && !found.counted.contains($0.lowerBound) }
    }
}

extension CommandAnswer {
    /// Usage by period.
    package init(_ figure: UsageFigure) {
        let shape = CommandShape<UsageFigure.Line>.usage
        self.init(
            .object([
                .init("figure", "usage".json), .init("about", UsageFigure.about.json),
                .init("from", figure.days.lowerBound.description.json),
                .init("to", figure.days.upperBound.description.json), .init("by", figure.step.rawValue.json),
                .init("missing", figure.missing.json), .init("cells", shape.values(of: figure.lines)),
            ]),
            text: Self.text(figure.lines, shape, missing: figure.missing, UsageFigure.about),
            csv: shape.csv(of: figure.lines))
    }
}

extension CommandShape<UsageFigure.Line> {
    fileprivate static var usage: Self {
        .init([
            .init("period", column: "PERIOD", \.period), .init("feature", column: "FEATURE", \.usage.feature),
            .init("counted_by", column: "COUNTED BY", \.usage.countedBy.rawValue),
            .init("tier", column: "TIER", \.usage.tier), .init("used", column: "USED", \.usage.used),
            .init("accounts", column: "ACCOUNTS", \.usage.accounts), .init("running", \.isRunning),
            .init("complete", \.usage.isComplete),
            .column("NOT FINAL") { $0.isRunning ? "running" : $0.usage.isComplete ? nil : "not complete" },
        ])
    }
}
