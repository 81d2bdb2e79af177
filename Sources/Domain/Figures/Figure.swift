/// A figure for product people and finance. Each is made of sums of rows, and an answer can list these rows.
package enum Figure: String, Sendable, Hashable, CaseIterable {
    /// Orders by their day.
    case orders
    /// Paid periods and things bought once, by their purchaseDate.
    case transactions
    /// The prices of transactions by their purchaseDate, whether or not they were refunded later.
    case gross
    /// Refunds by their date, less reversals of refunds by theirs.
    case refunded
    /// Gross less refunded.
    case net
    /// What share of the money, and of the transactions, was refunded.
    case refundRate = "refund_rate"
    /// Sales and refunds that arrived more than 24 hours after their day had ended, by the day on which they arrived.
    case heardLate = "heard_late"
    /// Monthly recurring revenue at the end of the period.
    case mrr
    /// What changed monthly recurring revenue in the period.
    case mrrMovements = "mrr_movements"
    /// Paying customers of subscriptions at the end of the period.
    case active
    /// What share of the customers stopped paying in the period.
    case churn
    /// What share of the customers pays so many months after the first payment.
    case retention
    /// What customers paid until so many months after their first payment.
    case lifetimeValue = "lifetime_value"
    /// Free trials by the day of their start, Apple's and the app's own, and what came of them.
    case trials
    /// What share of the decided trials was followed by a payment.
    case trialConversion = "trial_conversion"
    /// What share of the reported attempts to buy failed.
    case purchaseFailureRate = "purchase_failure_rate"
    /// What share of the reported restores completed.
    case restoreSuccessRate = "restore_success_rate"
    /// What sales are estimated to bring after Apple's commission.
    case proceeds
    /// What share of the accounts without a payment paid for the first time.
    case freeToPaid = "free_to_paid"

    /// What it counts, and which of the possible definitions it follows.
    package var about: String {
        switch self {
        case .orders:
            "Orders by the day in their number. Hidden orders do not count, nor do attempts without a transaction."
        case .transactions:
            "Transactions by purchaseDate: periods of subscriptions, and things bought once. Free ones are counted apart. Those without a price are among the paid ones."
        case .gross:
            "Prices as signed, by purchaseDate, whether or not they were refunded later. Transactions without a signed price are counted apart."
        case .refunded:
            "Refunds by revocationDate, less reversals of refunds by the date of their record. Refunds of an unknown amount are counted apart."
        case .net: "Gross less refunded, each by its own date."
        case .refundRate:
            "Two shares of the gross of the period: refunds by their own day; and refunds of the period's purchases, as they are now."
        case .heardLate:
            "Sales less refunds that arrived in the period, more than 24 hours after their own day had ended."
        case .mrr:
            "Prices a month of the subscriptions that run at the end of the period, or now while the period runs. Cancelled ones count until they end, and so does grace. Billing retry, trials, free periods and things bought once do not count. A week is a quarter of a month. Each price is converted by the rate of its purchase's day. Periods without a price are counted apart."
        case .mrrMovements:
            "What changed monthly recurring revenue from one day's end to the next, for each customer, app and subscription group: a first payment, a payment after a stop, a higher amount, a lower amount, or a stop, by Apple's reason. The customer is the account if the purchase always had the same one, and the purchase otherwise. In another currency, rates is what renewals at other rates changed."
        case .active:
            "Customers with monthly recurring revenue at the end of the period. A customer counts once for each app and subscription group."
        case .churn:
            "Customers that stopped paying in the period, as a share of the customers that paid before it. A customer that came back in the same calendar month did not stop."
        case .retention:
            "Customers by their first day, and the share of them that pays 0 to 36 months later. The first day is the first one whose end finds the customer paying. Months later means the end of the same day of the month, or of the month's last day if it has no such day. A customer that stopped and came back counts again. Each share counts only the customers for which that day has ended (due). The share of a month is not complete before due has all customers."
        case .lifetimeValue:
            "What a customer paid for subscriptions of the group until the end of the day 0 to 36 months after the first payment. Customers are those of retention. The amounts are sales less refunds, each by its own date, as signed, and before Apple's commission. Things bought once are not in them. The sum of each currency is divided by all customers of the cohort, also those that paid in other currencies. A value is given once that day has ended for all customers of the cohort. Erased accounts stay in the count. In another currency, each amount has the rate of its purchase's day."
        case .trials:
            "Free trials by the day of their start: Apple's, and apart from these (own) the trials that the app grants itself. A payment of the same purchase, for any product, converts one of Apple's if it begins at most 60 days after the trial's end. Without one, the trial is open until then, and lapsed afterwards. A trial of Apple's that ends with auto-renew off has lapsed at its end. Trials of the app belong to Production, and to the app and product that they were started with. The account's first payment, for any product, converts one if it begins between the trial's start and 60 days after its end. Without one, the trial is open until then, and lapsed afterwards."
        case .trialConversion:
            "Converted trials as a share of the trials that are not open any more, by the day of their start: of Apple's free trials, and apart from these (own) of the trials that the app grants itself. A refund of the payment does not undo a conversion, and is counted apart."
        case .purchaseFailureRate:
            "Failed attempts to buy as a share of the failed and the completed ones, by the first report of each. A transaction completes an attempt. Cancelled and pending attempts are counted apart. Reports of one account and product within 24 hours are one attempt with the latest outcome. Beyond 20 a day, attempts of an account do not count."
        case .restoreSuccessRate:
            "Completed restores as a share of the completed and the failed ones. Each report counts. Restores that found nothing and cancelled ones are counted apart."
        case .proceeds:
            "Estimated: signed prices of sales, by purchaseDate, less those of refunds, by their date, each after the tax and the commission of the commission table. The commission of later years applies after one year of paid periods of the same purchase. Each period counts whole, also one that an upgrade ended early. Trials and fully refunded periods do not count. A lapse of more than 60 days begins a new year. Tax stays in the amount if the table has none for the storefront. Transactions without a signed price, or without a rate, are unpriced."
        case .freeToPaid:
            "Accounts with their first payment in the period, as a share of the accounts without a payment before it. These are the accounts that were known at its start and those that became known in it. Every purchase for money is a payment, also a refunded one. Accounts of all apps and environments count, but not erased ones. Payments are those of one environment. A purchase that several accounts had is no account's payment."
        }
    }

    /// The measures that it is worked out from.
    package var measures: [FigureMeasure] {
        switch self {
        case .orders: [.order]
        case .transactions, .gross: [.sale]
        case .refunded: [.refund, .reversal]
        case .net: [.sale, .refund, .reversal]
        case .refundRate: [.sale, .refundedSale, .refund, .reversal]
        case .heardLate: [.lateSale, .lateRefund, .lateReversal]
        case .mrr: [.enter, .leave]
        case .mrrMovements: [.enter, .leave] + FigureMeasure.movements
        case .active, .churn: FigureMeasure.customers
        case .retention, .lifetimeValue: [.customerNew]
        case .trials, .trialConversion: FigureMeasure.trials + FigureMeasure.ownTrials
        case .purchaseFailureRate: FigureMeasure.attempts
        case .restoreSuccessRate: FigureMeasure.restores
        case .proceeds: FigureMeasure.netProceeds
        case .freeToPaid: FigureMeasure.accounts
        }
    }

    /// The measures of its rows.
    package var rowMeasures: [FigureMeasure] {
        switch self {
        case .mrr: [.standing]
        case .mrrMovements: FigureMeasure.movements
        case .active: [.standingCustomer]
        case .churn: [.customerLostVoluntary, .customerLostBilling, .customerLostOther, .customerBackSoon]
        case .lifetimeValue: [.sale, .refund, .reversal]
        case .freeToPaid: [.accountPaid]
        default: measures
        }
    }

    /// The measures by which a closed month records it.
    package var recordedMeasures: [FigureMeasure] {
        switch self {
        case .mrrMovements: [.standing] + rowMeasures
        case .churn: [.standingCustomer] + measures
        default: rowMeasures
        }
    }

    /// Whether it says what stands at the end of a period, which all days before have made.
    package var isStanding: Bool {
        switch self {
        case .mrr, .mrrMovements, .active, .churn, .freeToPaid: true
        default: false
        }
    }

    /// Why closed months do not record it; nil where they do.
    package var unrecorded: String? {
        switch self {
        case .retention, .lifetimeValue: "what becomes of their customers is known up to 36 months later"
        case .freeToPaid: "an account that is erased later leaves nothing behind"
        default: nil
        }
    }

    /// Whether it follows the customers of a period by the number of months after their first payment.
    package var isByMonthsLater: Bool { self == .retention || self == .lifetimeValue }

    /// Whether the amount of a measure's row takes from the figure: refunds do, but for the figure of refunds itself.
    package func takesAway(_ measure: FigureMeasure) -> Bool {
        switch measure {
        case .refund, .lateRefund: self != .refunded
        case .reversal: self == .refunded
        case .leave, .proceedsBack: true
        default: false
        }
    }

    /// What the amount of a measure's row adds to the figure; nil where it is not known.
    package func signed(_ amount: Int64?, of measure: FigureMeasure) -> Int64? {
        amount.map { takesAway(measure) ? 0 - max($0, -Int64.max) : $0 }
    }

    /// Whether it has amounts: then currencies are apart.
    package var isMoney: Bool { columns.contains { $0.unit == .money } }

    /// Its values, the figure itself first.
    package var columns: [FigureColumn] {
        switch self {
        case .orders: [.count("orders") { $0[.order].count }]
        case .transactions:
            [
                .count("transactions") { $0[.sale].paid }, .count("free") { $0[.sale].free },
                .count("unpriced") { $0[.sale].unknown },
            ]
        case .gross:
            [
                .money("gross") { $0[.sale].amount }, .count("transactions") { $0[.sale].paid },
                .count("unpriced") { $0[.sale].unknown },
            ]
        case .refunded:
            [
                .money("refunded") { $0.refunded }, .count("refunds") { $0[.refund].count },
                .count("reversals") { $0[.reversal].count },
                .count("unknown") { $0[.refund].unknown + $0[.reversal].unknown },
            ]
        case .net:
            [
                .money("net") { $0[.sale].amount - $0.refunded }, .money("gross") { $0[.sale].amount },
                .money("refunded") { $0.refunded },
            ]
        case .refundRate:
            [
                .share("refundRate") { ($0.refunded, $0[.sale].amount) },
                .share("refundRateInNumber") {
                    (Int128($0[.refund].count) - Int128($0[.reversal].count), Int128($0[.sale].paid))
                },
                .share("ofPurchases") { ($0[.refundedSale].amount, $0[.sale].amount) },
                .share("ofPurchasesInNumber") { (Int128($0[.refundedSale].count), Int128($0[.sale].paid)) },
                .money("refunded") { $0.refunded }, .money("gross") { $0[.sale].amount },
            ]
        case .heardLate:
            [
                .money("heardLate") {
                    $0[.lateSale].amount - $0[.lateRefund].amount + $0[.lateReversal].amount
                },
                .count("transactions") { $0[.lateSale].count }, .count("refunds") { $0[.lateRefund].count },
                .count("reversals") { $0[.lateReversal].count },
            ]
        case .mrr:
            [
                .money("mrr") { $0.standing.amount }, .money("arr") { $0.standing.amount * 12 },
                .count("subscriptions") { $0.standing.count - $0.standing.unknown },
                .count("unpriced") { $0.standing.unknown },
            ]
        case .mrrMovements:
            [
                .money("moved") { $0.moved }, .money("start") { $0.standingBefore.amount },
                .money("new") { $0[.new].amount }, .money("reactivation") { $0[.reactivation].amount },
                .money("expansion") { $0[.expansion].amount }, .money("contraction") { $0[.contraction].amount },
                .money("churnVoluntary") { $0[.churnVoluntary].amount },
                .money("churnBilling") { $0[.churnBilling].amount }, .money("churnOther") { $0[.churnOther].amount },
                .money("rates") { $0.standing.amount - $0.standingBefore.amount - $0.moved },
                .money("end") { $0.standing.amount },
            ]
        case .active: [.count("active") { $0.active }]
        case .churn:
            [
                .share("churn") { (Int128($0.lost - $0[.customerBackSoon].count), Int128($0.activeBefore)) },
                .count("lost") { $0.lost }, .count("voluntary") { $0[.customerLostVoluntary].count },
                .count("billing") { $0[.customerLostBilling].count }, .count("other") { $0[.customerLostOther].count },
                .count("cameBack") { $0[.customerBackSoon].count }, .count("activeBefore") { $0.activeBefore },
            ]
        case .retention:
            [.count("customers") { $0[.customerNew].count }] + Cohort.shares + Cohort.counts
        case .lifetimeValue: [.count("customers") { $0[.customerNew].count }] + Cohort.values
        case .trials:
            [
                .count("trials") { $0[.trial].count }, .count("converted") { $0[.trialConverted].count },
                .count("lapsed") { $0[.trialLapsed].count }, .count("open") { $0.openTrials },
                .count("ownTrials") { $0[.ownTrial].count }, .count("ownConverted") { $0[.ownTrialConverted].count },
                .count("ownLapsed") { $0[.ownTrialLapsed].count }, .count("ownOpen") { $0.openOwnTrials },
            ]
        case .trialConversion:
            [
                .share("conversionRate") {
                    (Int128($0[.trialConverted].count), Int128($0[.trial].count - $0.openTrials))
                },
                .count("converted") { $0[.trialConverted].count }, .count("trials") { $0[.trial].count },
                .count("open") { $0.openTrials }, .count("refunded") { $0[.trialRefunded].count },
                .share("ownConversionRate") {
                    (Int128($0[.ownTrialConverted].count), Int128($0[.ownTrial].count - $0.openOwnTrials))
                },
                .count("ownConverted") { $0[.ownTrialConverted].count }, .count("ownTrials") { $0[.ownTrial].count },
                .count("ownOpen") { $0.openOwnTrials }, .count("ownRefunded") { $0[.ownTrialRefunded].count },
            ]
        case .purchaseFailureRate:
            [
                .share("purchaseFailureRate") {
                    (
                        Int128($0[.attemptFailed].count),
                        Int128($0[.attemptCompleted].count) + Int128($0[.attemptFailed].count)
                    )
                },
                .count("failed") { $0[.attemptFailed].count }, .count("completed") { $0[.attemptCompleted].count },
                .count("cancelled") { $0[.attemptCancelled].count }, .count("pending") { $0[.attemptPending].count },
            ]
        case .restoreSuccessRate:
            [
                .share("restoreSuccessRate") {
                    (
                        Int128($0[.restoreCompleted].count),
                        Int128($0[.restoreCompleted].count) + Int128($0[.restoreFailed].count)
                    )
                },
                .count("completed") { $0[.restoreCompleted].count }, .count("failed") { $0[.restoreFailed].count },
                .count("nothing") { $0[.restoreNothing].count },
                .count("cancelled") { $0[.restoreCancelled].count },
            ]
        case .proceeds:
            [
                .money("proceeds") { $0[.proceeds].amount - $0.proceedsRefunded },
                .money("ofSales") { $0[.proceeds].amount }, .money("ofRefunds") { $0.proceedsRefunded },
                .count("transactions") { $0[.proceeds].count }, .count("unpriced") { $0[.proceeds].unknown },
            ]
        case .freeToPaid:
            [
                .share("freeToPaid") { (Int128($0[.accountPaid].count), Int128($0.accountsToPay)) },
                .count("paid") { $0[.accountPaid].count }, .count("accounts") { $0.accountsToPay },
                .count("known") { $0.accountsKnown },
            ]
        }
    }
}

/// A value of a figure.
package struct FigureColumn: Sendable {
    /// What a value is in.
    package enum Unit: Sendable, Hashable {
        /// A number of rows.
        case count
        /// Thousandths of the currency.
        case money
        /// Thousandths of a percent.
        case share
    }

    /// How a table for people has it. Every other answer has it as it is.
    package enum Showing: Sendable, Hashable {
        /// As it is.
        case exact
        /// In few characters, a share as a whole percent.
        case brief
        /// It does not.
        case none
    }

    /// Its name in answers.
    package let name: String
    /// What it is in.
    package let unit: Unit
    /// The value; nil of a share of nothing, and of what is not known yet.
    package let value: @Sendable (FigureSums) -> Int64?
    /// How a table has it.
    package var showing = Showing.exact
    /// Whether it is of a part only, and the rest comes as days pass.
    package var isPartial: @Sendable (FigureSums) -> Bool = { _ in false }

    static func count(_ name: String, _ value: @escaping @Sendable (FigureSums) -> Int64) -> FigureColumn {
        FigureColumn(name: name, unit: .count) { value($0) }
    }

    static func money(_ name: String, _ value: @escaping @Sendable (FigureSums) -> Int128) -> FigureColumn {
        FigureColumn(name: name, unit: .money) { Int64(clamping: value($0)) }
    }

    static func share(
        _ name: String, _ value: @escaping @Sendable (FigureSums) -> (part: Int128, whole: Int128)
    ) -> FigureColumn {
        FigureColumn(name: name, unit: .share) { sums in
            let (part, whole) = value(sums)
            return share(of: part, in: whole)
        }
    }

    /// A share in thousandths of a percent; nil of nothing.
    package static func share(of part: Int128, in whole: Int128) -> Int64? {
        guard whole > 0 else { return nil }
        let (scaled, isBeyond) = part.multipliedReportingOverflow(by: 100_000)
        guard !isBeyond else { return nil }
        // Half up, away from zero.
        return Int64(clamping: (scaled + (part < 0 ? -whole / 2 : whole / 2)) / whole)
    }
}
