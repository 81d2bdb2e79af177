package import AccountStore
import Accounts
package import Base
package import FigureStore

/// What accounts used of the catalog's features, by period, feature and tier.
package struct UsageFigure: Sendable {
    /// The usage of a period, of one feature by accounts of one tier.
    package struct Line: Sendable {
        /// As people write it.
        package let period: String
        /// What was used.
        package let usage: UsageDay
        /// Whether the period has not ended.
        package let isRunning: Bool
    }

    /// The days; by month whole months.
    package let days: ClosedRange<CalendarDay>
    /// The periods.
    package let step: CalendarStep
    /// In the order of periods, features and tiers.
    package let lines: [Line]
    /// How many periods have ended and were not counted.
    package let missing: Int

    /// What it counts.
    package static let about =
        "What was used of each feature, by the tier that accounts have in Production at the day's end, of days that have ended. A feature that is counted by day is summed; one that is counted by month stands with what was used of the month so far, and one that is counted in total with what is in use, both as of the last day that was counted. Reports may come up to 35 days later: until then a value is not complete. Calls that were refused leave nothing, and are in no number."

    /// What was used on some days.
    /// - Throws: ``TooManyCells``; `PostgresError`.
    package init(
        _ days: ClosedRange<CalendarDay>, by step: CalendarStep, today: CalendarDay, _ usage: Usage
    ) async throws {
        let days = step.whole(days)
        guard step.count(of: days) <= FigureQuestion.mostCells else { throw TooManyCells() }
        let periods = step.periods(of: days)
        let ends = Dictionary(uniqueKeysWithValues: periods.map { ($0.lowerBound, $0.upperBound) })
        let found = try await usage.days(days, byMonth: step == .month, atMost: FigureQuestion.mostCells)
        guard found.usage.count <= FigureQuestion.mostCells else { throw TooManyCells() }
        (self.days, self.step) = (days, step)
        lines = found.usage.map { used in
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
