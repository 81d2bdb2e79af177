/// A figure that product people and finance ask for. Every one is made of sums of rows, and can be opened to them.
package enum Figure: String, Sendable, Hashable, CaseIterable {
    /// Orders by their day.
    case orders
    /// Paid periods and things bought once, by their purchaseDate.
    case transactions
    /// The prices of transactions by their purchaseDate, whether or not they were refunded later.
    case gross
    /// Refunds by their date, less what of them was taken back by its date.
    case refunded
    /// Gross less refunded.
    case net
    /// What share of the money, and of the transactions, was refunded.
    case refundRate = "refund_rate"
    /// What was heard of more than 24 hours after its day had ended, by the day on which it was heard of.
    case heardLate = "heard_late"
    /// Monthly recurring revenue at the end of the period.
    case mrr
    /// What changed monthly recurring revenue in the period.
    case mrrMovements = "mrr_movements"
    /// Customers who pay for a subscription at the end of the period.
    case active
    /// What share of the customers stopped to pay in the period.
    case churn
    /// What share of the customers pays so many months after the first payment.
    case retention
    /// What customers paid until so many months after their first payment.
    case lifetimeValue = "lifetime_value"
    /// Apple's free trials by the day of their start, and what came of them.
    case trials
    /// What share of the trials that are decided was followed by a payment.
    case trialConversion = "trial_conversion"
    /// What share of the attempts to buy that apps reported failed.
    case purchaseFailureRate = "purchase_failure_rate"
    /// What share of the restores that apps reported completed.
    case restoreSuccessRate = "restore_success_rate"
    /// What sales are estimated to bring after Apple's commission.
    case proceeds
    /// What share of the accounts without a payment paid for the first time.
    case freeToPaid = "free_to_paid"

    /// What it counts, and which reading of it was chosen, in one sentence.
    package var about: String {
        switch self {
        case .orders:
            "Orders by the day in their number; hidden ones and attempts that no transaction completed do not count."
        case .transactions:
            "Transactions by purchaseDate: paid periods and things bought once; free ones are apart, and unpriced ones are among the paid."
        case .gross:
            "Prices as signed, by purchaseDate, refunded later or not; transactions without a signed price are counted apart."
        case .refunded:
            "Refunds by revocationDate, less reversals by the date of the record; refunds of an unknown amount are counted apart."
        case .net: "Gross less refunded, each by its own date."
        case .refundRate:
            "Refunded by the day of the refund as a share of the gross of these days; and what is refunded now of these days' purchases."
        case .heardLate:
            "Sales less refunds that were first heard of on these days, and whose own day had ended more than 24 hours before."
        case .mrr:
            "Prices a month of the periods that count when the period ends, now while it runs: cancelled but running ones and grace, not billing retry, trials and what is free; a week is a quarter of a month. Each is converted by the rate of its purchase's day. What was bought once is not in it, and unpriced periods are counted apart."
        case .mrrMovements:
            "What changed it from day's end to day's end, by customer, app and subscription group: a customer's first payment, one after a stop, more, less, or none any more, by Apple's reason. The customer is the account where only one ever had the purchase, and otherwise the purchase. Converted, rates is what renewals at other rates changed."
        case .active:
            "Customers, by app and subscription group, whose monthly recurring revenue is not 0 when the period ends."
        case .churn:
            "Customers who stopped to pay less those of them who came back in the same month of the calendar, as a share of those who paid before the period."
        case .retention:
            "Customers by the day at whose end they paid for the first time, and the share of them with monthly recurring revenue other than 0 at the end of the day 0 to 36 months later: the same day of the month, or the last where there is none. Who stopped and came back counts again. Each share is of the customers for whom that day has ended (due): of a month it is not complete while these are fewer than all."
        case .lifetimeValue:
            "Customers as retention has them, and what they paid for subscriptions of the group until the end of the day 0 to 36 months after the day of their first payment: sales less refunds, each by its own date, as signed, and before Apple's commission; by currency, and divided by all customers of the cohort, whatever currency they paid in. What was bought once is not in it. A value stands once that day has ended for all customers of the cohort. Accounts that were erased stay in the count. Converted, each amount has the rate of its purchase's day."
        case .trials:
            "Apple's free trials by the day of their start. One is converted by a payment of the same purchase, for any product, that begins at most 60 days after the trial's end; open until then, unless it ended with auto-renew off; and lapsed otherwise. Trials that the app grants itself are not among them."
        case .trialConversion:
            "Converted trials as a share of those that started less those that are open, by the day of their start. A refund of the payment does not undo a conversion, and is counted apart."
        case .purchaseFailureRate:
            "Attempts to buy that failed as a share of those that failed or that a transaction completed, by the first report of each; cancelled and pending ones are apart. Reports of one account and product within 24 hours are one attempt, by the latest of them. What an account attempts beyond 20 a day does not count."
        case .restoreSuccessRate:
            "Restores that completed as a share of those that completed or failed, each report by itself; those that found nothing and cancelled ones are apart."
        case .proceeds:
            "Estimated: prices as signed less the tax and the commission of the commission table, by purchaseDate, less the same of refunds by their date. The commission of later years counts from a year of paid periods of the same purchase on, upgrades included, each counted whole; trials and fully refunded periods are left out, and a lapse of more than 60 days begins anew. Tax is in it where the table has none for the storefront. What has no signed price or no rate is unpriced."
        case .freeToPaid:
            "Accounts whose first payment was in the period, as a share of those without any before it: those known at its start and those that it made known. Any purchase for money is a payment, whatever became of it. Accounts are those of all apps and environments, known and not erased, and payments those of the environment that is asked for; a purchase that several accounts had is the payment of none."
        }
    }

    /// The measures that it is made of.
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
        case .trials, .trialConversion: FigureMeasure.trials
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
            ]
        case .trialConversion:
            [
                .share("conversionRate") {
                    (Int128($0[.trialConverted].count), Int128($0[.trial].count - $0.openTrials))
                },
                .count("converted") { $0[.trialConverted].count }, .count("trials") { $0[.trial].count },
                .count("open") { $0.openTrials }, .count("refunded") { $0[.trialRefunded].count },
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
                .count("known") { $0[.accountKnown].count },
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
