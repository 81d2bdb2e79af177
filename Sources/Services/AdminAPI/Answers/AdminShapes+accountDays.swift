import AccountStore
import Accounts
import Base
import FigureStore
import Operations

extension AdminShapes {
    /// The lengths of the periods of accounts and usage.
    static let calendarSteps = ValueSchema.named("CalendarStep", .choice(CalendarStep.allCases.map(\.rawValue)))

    /// The splits of accounts.
    static let userSplits = ValueSchema.named("UserSplit", .choice(UserFigure.Split.allCases.map(\.rawValue)))

    /// Accounts at the end of days.
    static let users = Shape<UserFigure, Void>(
        "UserFigure",
        [
            .init("about", "What it counts.") { _ in UserFigure.about },
            .init("environment", Environment.schema) { .string($0.environment) },
        ] + days({ $0.days }, { $0.step }) + [
            .init("split", .nullable(userSplits)) { .text($0.split?.rawValue) },
            .init("missing", missingAbout) { $0.missing },
            .list("cells", userCell, about: "By period, then by tier or status.") { $0.lines },
        ])

    /// Usage of days.
    static let usage = Shape<UsageFigure, Void>(
        "UsageFigure",
        [.init("about", "What it counts.") { _ in UsageFigure.about }] + days({ $0.days }, { $0.step }) + [
            .init("missing", missingAbout) { $0.missing },
            .list("cells", usageCell, about: "By period, then feature, then tier.") { $0.lines },
        ])

    private static let missingAbout = "The number of periods that have ended without a count. They have no cell."

    private static func days<Subject>(
        _ days: @escaping @Sendable (Subject) -> ClosedRange<CalendarDay>,
        _ step: @escaping @Sendable (Subject) -> CalendarStep
    ) -> [Shape<Subject, Void>.Field] {
        [
            .init("from", "The first day. Months are whole.") { days($0).lowerBound.description },
            .init("to", "The last day, included.") { days($0).upperBound.description },
            .init("by", calendarSteps) { .string(step($0).rawValue) },
        ]
    }

    private static let userCell = Shape<UserFigure.Line, Void>(
        "UserCell",
        [
            .init("period", "Such as 2026-10 or 2026-10-31.") { $0.period },
            .init("group", "The tier or the status; null without a split.") { $0.group },
            .init("users", "Accounts of the group that are not on trial.") { $0.users },
            .init("onTrial", "Accounts of the group on trial: Apple's or the app's own.") { $0.onTrial },
            .init("share", "users of total, in thousandths of a percent; null without accounts.") {
                $0.share($0.users)
            },
            .init("onTrialShare", "onTrial of total, in thousandths of a percent; null without accounts.") {
                $0.share($0.onTrial)
            },
            .init("subscribers", "With access, and with a running subscription of Apple's that is no trial.") {
                $0.count(.subscriber)
            },
            .init("expired", "Without access, and with a purchase or a trial before.") { $0.count(.expired) },
            .init("free", "Without access, and never with a purchase or a trial.") { $0.count(.free) },
            .init("total", "All accounts of the period, of all groups.") { $0.total },
            .init("anonymous", "Purchases of the period that no account ever had.") { $0.all.anonymous },
            .init("at", "The instant of the numbers: the end of the period, or the last count while it runs.") {
                $0.at
            },
            .init("countedAt", "The instant at which they were worked out.") { $0.all.countedAt },
            .init("running", "Whether the period has not ended.") { $0.isRunning },
            .init("late", "Whether they were worked out more than a day later, without accounts erased by then.") {
                $0.isLate
            },
        ])

    private static let usageCell = Shape<UsageFigure.Line, Void>(
        "UsageCell",
        [
            .init("period", "Such as 2026-10 or 2026-10-31.") { $0.period },
            .init("feature") { $0.usage.feature },
            .init(
                "countedBy", .choice(Catalog.UsagePeriod.allCases.map(\.rawValue)),
                "day: used is the sum of days; month: the usage of the month so far; total: the usage so far, both at the latest counted day."
            ) { .string($0.usage.countedBy.rawValue) },
            .init("tier", "The accounts' tier in Production at the day's end.") { $0.usage.tier },
            .init("used") { $0.usage.used },
            .init("accounts", "The number of accounts with usage; null for several days.") { $0.usage.accounts },
            .init("running", "Whether the period has not ended.") { $0.isRunning },
            .init("complete", "Whether all its days were counted, and no more reports of them are accepted.") {
                $0.usage.isComplete
            },
        ])
}
