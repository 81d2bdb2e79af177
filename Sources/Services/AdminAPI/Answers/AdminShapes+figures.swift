import AccountStore
import Accounts
import Base
import FigureStore
import Figures

extension AdminShapes {
    /// The names of all figures.
    static let figureNames = ValueSchema.named("FigureName", .choice(Figure.allCases.map(\.rawValue)))
    /// The lengths of periods.
    static let figureSteps = ValueSchema.named("FigureStep", .choice(FigureQuestion.Step.allCases.map(\.rawValue)))
    /// The splits.
    static let figureSplits = ValueSchema.named("FigureSplit", .choice(FigureQuestion.Split.allCases.map(\.rawValue)))
    private static let figureUnits = ValueSchema.named("FigureUnit", .choice(["count", "money", "share"]))

    /// A figure by period.
    static let figure = Shape<ShownFigure, Void>(
        "AdminFigure",
        [
            .init("figure", figureNames) { .string($0.answer.question.figure.rawValue) },
            .init("about", "Its definition.") { $0.answer.question.figure.about },
            .init("zone", zoneAbout) { $0.answer.zone },
            .init("environment", Environment.schema) { .string($0.answer.question.environment) },
            .init("from", "The first day. Months and fiscal months are whole. Null where none had ended by at.") {
                $0.days?.lowerBound.description
            },
            .init("to", "The last day, included. Null likewise.") { $0.days?.upperBound.description },
            .init("by", figureSteps) { .string($0.answer.question.step.rawValue) },
            .init("split", .nullable(figureSplits)) { .text($0.answer.question.split?.rawValue) },
            .init("in", "The currency that money is converted to; null for each currency by itself.") {
                $0.answer.question.currency
            },
            .init(
                "ratesCorrectedAt",
                "When the last corrected rate among those of these values was corrected; null without one."
            ) { $0.answer.ratesCorrectedAt },
            .list("notConverted", unconverted, about: "The amounts without a known rate, of all cells, by currency.") {
                $0.answer.unconverted
            },
            .init(
                "taxIncluded",
                "Of proceeds: whether some amounts include tax, because the commission table has none for their storefront and month. Null for other figures."
            ) { $0.answer.isTaxIncluded },
            .list("columns", figureColumn, about: "The columns of each cell's values, the figure itself first.") {
                $0.answer.question.figure.columns
            },
            .list(
                "cells", figureCell,
                about: "By period, then group, then currency. Periods and groups without rows have none."
            ) { $0.cells },
        ])

    private static let unconverted = Shape<FigureAnswer.Unconverted, Void>(
        "FigureNotConverted",
        [
            .init("currency", "Empty where no record states it.") { $0.currency },
            .init("count", "The number of rows.") { $0.count },
            .init("amount", "In thousandths of the currency, for the first column with money.") { $0.amount },
        ])

    private static let zoneAbout = "The time zone of the days; null before any were summed."

    private static let figureColumn = Shape<FigureColumn, Void>(
        "FigureColumn",
        [
            .init("name") { $0.name },
            .init(
                "unit", figureUnits,
                "count: a number; money: thousandths of the cell's currency; share: thousandths of a percent."
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
            .init("period", "Such as 2026-10, 2026-FM10 or 2026-10-31.") { $0.period },
            .init("group", "The member of the split, empty where no record states it; null without a split.") {
                $0.cell.group
            },
            .init("currency", "Empty where no record states it; null for figures without money.") { $0.cell.currency },
            .init(
                "notConverted",
                "Whether it has the amounts without a known rate, in their own currency. Null for each currency by itself."
            ) { $0.notConverted },
            .init("values", "One for each column; null for a share of nothing, and for a value that is not due yet.") {
                $0.values
            },
        ] + standing { $0.standing } + [
            .init("recorded", "With at: whether the values are those that a closed month recorded.") { $0.isRecorded },
            .init("rows", "The path of its rows; these are of the books, also of a closed month.") { $0.rows },
        ])

    /// How final the values of a period are.
    private static func standing<Subject>(
        _ standing: @escaping @Sendable (Subject) -> FigureAnswer.Standing
    ) -> [Shape<Subject, Void>.Field] {
        [
            .init("running", "Whether the period has not ended.") { standing($0).isRunning },
            .init("upToDate", "Whether all changes are summed.") { !standing($0).isPending },
            .init("proven", "Whether Apple was asked for all notifications until the period's end.") {
                standing($0).isProven
            },
        ]
    }

    /// A row of a figure.
    static let figureRow = Shape<FigureRow, Void>(
        "FigureRow",
        [
            .init("at", "The instant that decides its day.") { $0.at },
            .init("measure", "What it counts for.") { $0.measure.rawValue },
            .init(
                "order",
                "The number of its order; null before the order has one, of a restore, and of the app's own trial."
            ) { $0.order },
            .init("bundleId", "Empty of a restore or an own trial of the app without a known app.") { $0.bundleID },
            .init("productId") { $0.productID },
            .init("storefront") { $0.storefront },
            .init(
                "amount",
                """
                What it adds to the figure, in thousandths of the currency; negative where it lowers the figure. \
                Null where it is not known, and without amounts.
                """
            ) { $0.amount },
            .init("currency") { $0.currency },
            .init(
                "transactionId",
                "Null of an order, a restore, and an attempt to buy without a transaction. Of the app's own trial, the payment that converted it."
            ) { $0.transactionID },
            .init(
                "converted",
                "The amount in the currency of the question; null without one, without a known rate, and without an amount."
            ) { $0.converted },
        ])

    /// Sales and refunds of all days and of today.
    static let orderStatistics = Shape<ShownOrderStatistics, Void>(
        "OrderStatistics",
        [
            .init("environment", Environment.schema) { .string($0.environment) },
            .init("zone", zoneAbout) { $0.totals.zone }, .init("today") { $0.totals.today.description },
            .init("upToDate", "Whether all changes are summed.") { !$0.totals.isPending },
            .init("totalOrders") { Figure.orders.count(of: $0.totals.ofAllDays) },
            .list("totalRevenue", amount, about: "Gross: also amounts that were refunded later.") {
                Figure.gross.values(of: $0.totals.ofAllDays)
            },
            .init("todayOrders", "By the day in their number.") { Figure.orders.count(of: $0.totals.ofToday) },
            .list("todayRevenue", amount) { Figure.gross.values(of: $0.totals.ofToday) },
            .init("pendingRefunds", "Requests of staff that wait for a decision.") { $0.pendingRefunds },
            .list("totalRefunded", amount, about: "Refunds less reversals of refunds.") {
                Figure.refunded.values(of: $0.totals.ofAllDays)
            },
            .list("refundRate", share, about: "totalRefunded of totalRevenue.") {
                Figure.refundRate.values(of: $0.totals.ofAllDays)
            },
            .nullable(
                "converted", convertedStatistics,
                about: "In the catalog's reporting_currency; null without one, or while its sums are not kept yet."
            ) { $0.totals.converted },
            .init("unpriced", "The number of transactions without a signed price. They are in no amount.") {
                $0.unpriced
            },
            .init("unknownRefunds", "The number of refunds of an unknown amount. They are in no amount.") {
                $0.unknownRefunds
            },
        ])

    private static let convertedStatistics = Shape<FigureTotals.Converted, Void>(
        "ConvertedStatistics",
        [
            .init("currency") { $0.currency },
            .init("upToDate", "Whether all changes of rates are in the amounts.") { !$0.isPending },
            .init("totalRevenue", "In thousandths of the currency, like the amounts below.") {
                Figure.gross.value(of: $0.ofAllDays)
            },
            .init("todayRevenue") { Figure.gross.value(of: $0.ofToday) },
            .init("totalRefunded") { Figure.refunded.value(of: $0.ofAllDays) },
            .init("refundRate", "In thousandths of a percent; null without revenue.") {
                Figure.refundRate.value(of: $0.ofAllDays)
            },
            .list("notConverted", unconverted, about: "The parts of totalRevenue without a known rate.") { $0.lost },
        ])

    /// Revenue by month.
    static let supportStatistics = Shape<ShownSupportStatistics, Void>(
        "SupportStatistics",
        [
            .init("environment", Environment.schema) { .string($0.answer.question.environment) },
            .init("zone", zoneAbout) { $0.answer.zone },
            .init("in", "The catalog's reporting_currency; null without one.") {
                $0.converted?.question.currency
            },
            .list(
                "revenueTrends", trend,
                about: "This month and the eleven before, or the last twelve that had ended by at; the latest first."
            ) { $0.trends },
        ])

    private static let trend = Shape<ShownSupportStatistics.Trend, Void>(
        "RevenueTrend",
        [
            .init("date", "The month, such as 2026-10.") { $0.month },
            .list("revenue", amount, about: "Gross: also amounts that were refunded later.") { $0.revenue },
            .init("converted", "The revenue in the reporting currency, without notConverted; null without one.") {
                $0.converted
            },
            .list("notConverted", amount, about: "The amounts without a known rate.") { $0.notConverted },
        ] + standing { $0.standing })

    private static let amount = Shape<CurrencyValue, Void>(
        "CurrencyAmount",
        [.init("currency") { $0.currency }, .init("amount", "In thousandths of the currency.") { $0.value }])

    private static let share = Shape<CurrencyValue, Void>(
        "CurrencyShare",
        [.init("currency") { $0.currency }, .init("share", "In thousandths of a percent.") { $0.value }])

    /// The numbers of accounts by what they are now.
    static let accountStatistics = Shape<ShownAccountStatistics, Void>(
        "AccountStatistics",
        [
            .init("environment", Environment.schema) { .string($0.environment) },
            .init("countedAt", "When all accounts were counted; null before the first count.") { $0.counts.countedAt },
            .init(
                "totalUsers",
                "Known accounts that are not erased, also those without purchases. An account with purchases in two environments counts in both."
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
                "With access, and with a running subscription of Apple's that is no trial. A cancelled one runs until its end, and so does grace."
            ) { shown in shown.count { $0.standing == .subscriber } },
            .init(
                "conversionRate",
                "The share of Apple's decided trials of all time with a payment, in thousandths of a percent; null without such trials. The figure trial_conversion has it by day."
            ) { Figure.trialConversion.value(of: $0.trials.ofAllDays) },
            .init("trialsUpToDate", "Whether all changes are in conversionRate.") { !$0.trials.isPending },
            .init(
                "anonymous",
                "Subscriptions and purchases that no account of totalUsers ever had, also ended ones, without consumables. They are in no other number."
            ) { $0.counts.anonymous },
            .list("tiers", tierCount, about: "The catalog's, the lowest first.") { $0.tiers },
            .list("statuses", statusCount, about: "All statuses.") { $0.statuses },
        ])

    private static let tierCount = Shape<ShownAccountStatistics.TierCount, Void>(
        "TierCount",
        [
            .init("tier") { $0.tier },
            .init("users", "With this tier, not on trial.") { $0.users },
            .init("onTrial", "With this tier, on trial.") { $0.onTrial },
            .init("share", "users of totalUsers, in thousandths of a percent; null without users.") { $0.share },
        ])

    private static let statusCount = Shape<ShownAccountStatistics.StatusCount, Void>(
        "StatusCount", [.init("status") { $0.status }, .init("users") { $0.users }])
}
