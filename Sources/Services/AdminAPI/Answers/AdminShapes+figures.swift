import AccountStore
import Accounts
import Base
import FigureStore
import Figures

extension AdminShapes {
    /// The figures there are.
    static let figureNames = ValueSchema.named("FigureName", .choice(Figure.allCases.map(\.rawValue)))
    /// How long periods are.
    static let figureSteps = ValueSchema.named("FigureStep", .choice(FigureQuestion.Step.allCases.map(\.rawValue)))
    /// What values are apart by.
    static let figureSplits = ValueSchema.named("FigureSplit", .choice(FigureQuestion.Split.allCases.map(\.rawValue)))
    private static let figureUnits = ValueSchema.named("FigureUnit", .choice(["count", "money", "share"]))

    /// A figure by period.
    static let figure = Shape<ShownFigure, Void>(
        "AdminFigure",
        [
            .init("figure", figureNames) { .string($0.answer.question.figure.rawValue) },
            .init("about", "What it counts, and which reading of it was chosen.") { $0.answer.question.figure.about },
            .init("zone", zoneAbout) { $0.answer.zone },
            .init("environment", Environment.schema) { .string($0.answer.question.environment) },
            .init("from", "The first day. By month, and by fiscal month, whole ones are answered.") {
                $0.answer.question.days.lowerBound.description
            },
            .init("to", "The last day, which belongs to it.") { $0.answer.question.days.upperBound.description },
            .init("by", figureSteps) { .string($0.answer.question.step.rawValue) },
            .init("split", .nullable(figureSplits)) { .text($0.answer.question.split?.rawValue) },
            .init("in", "The currency to which money is converted; null where each is by itself.") {
                $0.answer.question.currency
            },
            .init(
                "ratesCorrectedAt",
                "Since when these values are by rates that were corrected; null where none of theirs was."
            ) { $0.answer.ratesCorrectedAt },
            .list("notConverted", unconverted, about: "What no rate is known for, of all cells, by currency.") {
                $0.answer.unconverted
            },
            .init(
                "taxIncluded",
                "Of proceeds, whether tax is in amounts of some storefront and month, since the commission table has none there; null of other figures."
            ) { $0.answer.isTaxIncluded },
            .list("columns", figureColumn, about: "What the values of each cell are, the figure itself first.") {
                $0.answer.question.figure.columns
            },
            .list(
                "cells", figureCell,
                about: "In the order of periods, then groups, then currencies. Where nothing is, there is none."
            ) { $0.cells },
        ])

    private static let unconverted = Shape<FigureAnswer.Unconverted, Void>(
        "FigureNotConverted",
        [
            .init("currency", "Empty where no record says it.") { $0.currency },
            .init("count", "How many rows.") { $0.count },
            .init("amount", "In thousandths of the currency, of the first column that is money.") { $0.amount },
        ])

    private static let zoneAbout = "The time zone whose days are counted; null before the first were summed."

    private static let figureColumn = Shape<FigureColumn, Void>(
        "FigureColumn",
        [
            .init("name") { $0.name },
            .init(
                "unit", figureUnits,
                "count is a number, money thousandths of the cell's currency, share thousandths of a percent."
            ) { .string(word($0.unit)) },
        ])

    private static func word(_ unit: FigureColumn.Unit) -> String {
        switch unit {
        case .count: "count"
        case .money: "money"
        case .share: "share"
        }
    }

    private static let figureCell = Shape<ShownFigure.Cell, Void>(
        "FigureCell",
        [
            .init("period", "Such as 2026-10, by fiscal-month 2026-FM10, or by day 2026-10-31.") { $0.period },
            .init("group", "The member of the split, empty where no record says it; null without a split.") {
                $0.cell.group
            },
            .init("currency", "Empty where no record says it; null of figures without money.") { $0.cell.currency },
            .init(
                "notConverted",
                "Whether it is what no rate is known for, in its own currency. Null where each currency is by itself."
            ) { $0.notConverted },
            .init("values", "One for each column; null of a share of nothing, and of what is not known yet.") {
                $0.values
            },
        ] + standing { $0.standing } + [
            .init("rows", "The path of the rows that it counts.") { $0.rows }
        ])

    /// How final the values of a period are.
    private static func standing<Subject>(
        _ standing: @escaping @Sendable (Subject) -> FigureAnswer.Standing
    ) -> [Shape<Subject, Void>.Field] {
        [
            .init("running", "Whether the period has not ended.") { standing($0).isRunning },
            .init("upToDate", "Whether all that changed is summed.") { !standing($0).isPending },
            .init("proven", "Whether Apple was asked for all that it sent until the period's end.") {
                standing($0).isProven
            },
        ]
    }

    /// A row that a figure counts.
    static let figureRow = Shape<FigureRow, Void>(
        "FigureRow",
        [
            .init("at", "The instant that puts it on its day.") { $0.at },
            .init("measure", "What it counts as.") { $0.measure.rawValue },
            .init("order", "Its order's number; null for the second until it is dealt, and of a restore.") { $0.order },
            .init("bundleId") { $0.bundleID }, .init("productId") { $0.productID },
            .init("storefront") { $0.storefront },
            .init(
                "amount",
                "What it adds to the figure, in thousandths of the currency, negative of what is taken from it; null where it is not known, and of what has none."
            ) { $0.amount },
            .init("currency") { $0.currency },
            .init("transactionId", "Null of an order, a restore, and an attempt to buy that none completed.") {
                $0.transactionID
            },
            .init(
                "converted",
                "The amount in the currency that was asked for; null where none was, where no rate is known, and where the amount is not."
            ) { $0.converted },
        ])

    /// What was sold and refunded, in all and today.
    static let orderStatistics = Shape<ShownOrderStatistics, Void>(
        "OrderStatistics",
        [
            .init("environment", Environment.schema) { .string($0.environment) },
            .init("zone", zoneAbout) { $0.totals.zone }, .init("today") { $0.totals.today.description },
            .init("upToDate", "Whether all that changed is summed.") { !$0.totals.isPending },
            .init("totalOrders") { Figure.orders.count(of: $0.totals.ofAllDays) },
            .list("totalRevenue", amount, about: "Gross: refunded later or not.") {
                Figure.gross.values(of: $0.totals.ofAllDays)
            },
            .init("todayOrders", "By the day in their number.") { Figure.orders.count(of: $0.totals.ofToday) },
            .list("todayRevenue", amount) { Figure.gross.values(of: $0.totals.ofToday) },
            .init("pendingRefunds", "Requests of staff that wait for a decision.") { $0.pendingRefunds },
            .list("totalRefunded", amount, about: "Less what Apple took back of it.") {
                Figure.refunded.values(of: $0.totals.ofAllDays)
            },
            .list("refundRate", share, about: "totalRefunded of totalRevenue.") {
                Figure.refundRate.values(of: $0.totals.ofAllDays)
            },
            .nullable(
                "converted", convertedStatistics,
                about: "In the catalog's reporting_currency; null without one, or while its sums are not kept yet."
            ) { $0.totals.converted },
            .init("unpriced", "How many transactions have no signed price, and are in no amount.") { $0.unpriced },
            .init("unknownRefunds", "How many refunds are of an unknown amount, and are in none.") {
                $0.unknownRefunds
            },
        ])

    private static let convertedStatistics = Shape<FigureTotals.Converted, Void>(
        "ConvertedStatistics",
        [
            .init("currency") { $0.currency },
            .init("upToDate", "Whether all rates that changed are counted.") { !$0.isPending },
            .init("totalRevenue", "In thousandths of the currency, as all that follows.") {
                Figure.gross.value(of: $0.ofAllDays)
            },
            .init("todayRevenue") { Figure.gross.value(of: $0.ofToday) },
            .init("totalRefunded") { Figure.refunded.value(of: $0.ofAllDays) },
            .init("refundRate", "In thousandths of a percent; null of nothing.") {
                Figure.refundRate.value(of: $0.ofAllDays)
            },
            .list("notConverted", unconverted, about: "What of totalRevenue no rate is known for.") { $0.lost },
        ])

    /// How revenue went, month by month.
    static let supportStatistics = Shape<ShownSupportStatistics, Void>(
        "SupportStatistics",
        [
            .init("environment", Environment.schema) { .string($0.answer.question.environment) },
            .init("zone", zoneAbout) { $0.answer.zone },
            .init("in", "The catalog's reporting_currency; null where it has none.") {
                $0.converted?.question.currency
            },
            .list("revenueTrends", trend, about: "This month and the eleven before, the latest first.") { $0.trends },
        ])

    private static let trend = Shape<ShownSupportStatistics.Trend, Void>(
        "RevenueTrend",
        [
            .init("date", "The month, such as 2026-10.") { $0.month },
            .list("revenue", amount, about: "Gross: refunded later or not.") { $0.revenue },
            .init("converted", "The same in one currency, but for what is in notConverted; null without one.") {
                $0.converted
            },
            .list("notConverted", amount, about: "What no rate is known for.") { $0.notConverted },
        ] + standing { $0.standing })

    private static let amount = Shape<CurrencyValue, Void>(
        "CurrencyAmount",
        [.init("currency") { $0.currency }, .init("amount", "In thousandths of the currency.") { $0.value }])

    private static let share = Shape<CurrencyValue, Void>(
        "CurrencyShare",
        [.init("currency") { $0.currency }, .init("share", "In thousandths of a percent.") { $0.value }])

    /// How many accounts there are, by what they are now.
    static let accountStatistics = Shape<ShownAccountStatistics, Void>(
        "AccountStatistics",
        [
            .init("environment", Environment.schema) { .string($0.environment) },
            .init("countedAt", "When all accounts were counted; null before the first count.") { $0.counts.countedAt },
            .init(
                "totalUsers",
                "Accounts that are known and not erased, whether or not a purchase is theirs. One that has purchases in two environments counts in both."
            ) { $0.total },
            .init("freeUsers", "Without access, and never with a purchase or a trial.") { shown in
                shown.count { $0.standing == .free }
            },
            .init("trialUsers", "On trial: Apple's or the app's own.") { shown in
                shown.count { $0.status == .trial }
            },
            .init("expiredUsers", "Without access, and with a purchase or a trial before.") { shown in
                shown.count { $0.standing == .expired }
            },
            .init(
                "activeSubscribers",
                "With access while a subscription of Apple's runs for them that is no trial, cancelled and in grace included."
            ) { shown in shown.count { $0.standing == .subscriber } },
            .init(
                "conversionRate",
                "Of Apple's trials of all time that are decided, the share that was followed by a payment, in thousandths of a percent; null of none. The figure trial_conversion has it by day."
            ) { Figure.trialConversion.value(of: $0.trials.ofAllDays) },
            .init("trialsUpToDate", "Whether all that changed is in conversionRate.") { !$0.trials.isPending },
            .init(
                "anonymous",
                "Subscriptions and purchases, ended ones included and consumables not, that no account of totalUsers ever had. No other number counts them."
            ) { $0.counts.anonymous },
            .list("tiers", tierCount, about: "The catalog's, the lowest first.") { $0.tiers },
            .list("statuses", statusCount, about: "Each status there is.") { $0.statuses },
        ])

    private static let tierCount = Shape<ShownAccountStatistics.TierCount, Void>(
        "TierCount",
        [
            .init("tier") { $0.tier },
            .init("users", "With this tier; those on trial are not among them.") { $0.users },
            .init("onTrial", "With this tier, on trial.") { $0.onTrial },
            .init("share", "users of totalUsers, in thousandths of a percent; null of none.") { $0.share },
        ])

    private static let statusCount = Shape<ShownAccountStatistics.StatusCount, Void>(
        "StatusCount", [.init("status") { $0.status }, .init("users") { $0.users }])
}
