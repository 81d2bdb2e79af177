import AccountStore
import Accounts
import Base
import FigureStore
import Operations

extension AdminShapes {
    /// How long the periods of accounts and usage are.
    static let calendarSteps = ValueSchema.named("CalendarStep", .choice(CalendarStep.allCases.map(\.rawValue)))

    /// What accounts are apart by.
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
            .list("cells", userCell, about: "In the order of periods, then of tiers or statuses.") { $0.lines },
        ])

    /// Usage of days.
    static let usage = Shape<UsageFigure, Void>(
        "UsageFigure",
        [.init("about", "What it counts.") { _ in UsageFigure.about }] + days({ $0.days }, { $0.step }) + [
            .init("missing", missingAbout) { $0.missing },
            .list("cells", usageCell, about: "In the order of periods, then features, then tiers.") { $0.lines },
        ])

    private static let missingAbout = "How many periods have ended and were not counted: they have no cell."

    private static func days<Subject>(
        _ days: @escaping @Sendable (Subject) -> ClosedRange<CalendarDay>,
        _ step: @escaping @Sendable (Subject) -> CalendarStep
    ) -> [Shape<Subject, Void>.Field] {
        [
            .init("from", "The first day. By month whole months are answered.") { days($0).lowerBound.description },
            .init("to", "The last day, which belongs to it.") { days($0).upperBound.description },
            .init("by", calendarSteps) { .string(step($0).rawValue) },
        ]
    }

    private static let userCell = Shape<UserFigure.Line, Void>(
        "UserCell",
        [
            .init("period", "Such as 2026-10, or by day 2026-10-31.") { $0.period },
            .init("group", "The tier or the status; null without a split.") { $0.group },
            .init("users", "Those that are not on trial.") { $0.users },
            .init("onTrial", "Those on trial: Apple's or the app's own.") { $0.onTrial },
            .init("share", "users of total, in thousandths of a percent; null of none.") { $0.share($0.users) },
            .init("onTrialShare", "onTrial of total.") { $0.share($0.onTrial) },
            .init("subscribers", "With access while a subscription of Apple's runs for them that is no trial.") {
                $0.count(.subscriber)
            },
            .init("expired", "Without access, and with a purchase or a trial before.") { $0.count(.expired) },
            .init("free", "Without access, and never with a purchase or a trial.") { $0.count(.free) },
            .init("total", "All accounts of the period, whatever the group.") { $0.total },
            .init("anonymous", "Purchases of the period that no account ever had.") { $0.all.anonymous },
            .init("at", "The instant that it is of: the end of the period, or the last count while it runs.") { $0.at },
            .init("countedAt", "When it was worked out.") { $0.all.countedAt },
            .init("running", "Whether the period has not ended.") { $0.isRunning },
            .init("late", "Whether it was worked out more than a day later: who was erased by then is not in it.") {
                $0.isLate
            },
        ])

    private static let usageCell = Shape<UsageFigure.Line, Void>(
        "UsageCell",
        [
            .init("period", "Such as 2026-10, or by day 2026-10-31.") { $0.period },
            .init("feature") { $0.usage.feature },
            .init(
                "countedBy", .choice(Catalog.UsagePeriod.allCases.map(\.rawValue)),
                "Of day the sum, of month what was used of it so far, of total what was in use, both on the latest day."
            ) { .string($0.usage.countedBy.rawValue) },
            .init("tier", "The accounts' in Production at the day's end.") { $0.usage.tier },
            .init("used") { $0.usage.used },
            .init("accounts", "How many used it; null of several days together.") { $0.usage.accounts },
            .init("running", "Whether the period has not ended.") { $0.isRunning },
            .init("complete", "Whether all its days were counted, and nothing more is reported of them.") {
                $0.usage.isComplete
            },
        ])
}
