/// A kind of row of the books. Figures are sums of such rows, by the day that the measure states.
package enum FigureMeasure: String, Sendable, Hashable, CaseIterable {
    /// An order, by the day in its number.
    case order
    /// A paid period, or something that was bought once, by its purchaseDate. Free ones count.
    case sale
    /// The part of a sale that is refunded now, by the day of the sale.
    case refundedSale = "refunded_sale"
    /// A refund, by its revocationDate.
    case refund
    /// The reversal of a refund, by the date of the record that states it.
    case reversal
    /// A sale that arrived more than 24 hours after its own day had ended, by the day on which it arrived.
    case lateSale = "late_sale"
    /// A refund that arrived more than 24 hours after its own day had ended, by the day on which it arrived.
    case lateRefund = "late_refund"
    /// A reversal that arrived more than 24 hours after its own day had ended, by the day on which it arrived.
    case lateReversal = "late_reversal"
    /// A paid period that begins to count for recurring revenue, by that instant, with its price a month.
    case enter
    /// A paid period that no longer counts for recurring revenue, by that instant, with its price a month.
    case leave
    /// A period of a new customer, by the day on which it begins or ends, with its price a month: negative where it ends. The customer pays at
    /// the end of the day, and never did before.
    case new
    /// A period of a customer that pays again after a stop. Day and price as in ``new``.
    case reactivation
    /// A period of a customer that pays more than at the end of the day before. Day and price as in ``new``.
    case expansion
    /// A period of a customer that pays less than at the end of the day before, and not nothing. Day and price as in ``new``.
    case contraction
    /// A period of a customer that decided to stop. Day and price as in ``new``.
    case churnVoluntary = "churn_voluntary"
    /// A period of a customer that stopped because a charge failed. Day and price as in ``new``.
    case churnBilling = "churn_billing"
    /// A period of a customer that stopped for another reason of Apple's, or for none. Day and price as in ``new``.
    case churnOther = "churn_other"
    /// A customer that pays at the end of a day, and never did before.
    case customerNew = "customer_new"
    /// A customer that pays again at the end of a day.
    case customerBack = "customer_back"
    /// A customer that pays again at the end of a day, and stopped in the same calendar month.
    case customerBackSoon = "customer_back_soon"
    /// A customer that decided to stop: one that paid at the end of the day before, and no longer does.
    case customerLostVoluntary = "customer_lost_voluntary"
    /// A customer that stopped because a charge failed.
    case customerLostBilling = "customer_lost_billing"
    /// A customer that stopped for another reason of Apple's, or for none.
    case customerLostOther = "customer_lost_other"
    /// A free trial of Apple's, by the day on which it starts.
    case trial
    /// A trial with a payment at most 60 days after its end, by the day on which the trial starts.
    case trialConverted = "trial_converted"
    /// A trial without such a payment that is not open any more, by the day on which it starts.
    case trialLapsed = "trial_lapsed"
    /// A converted trial with a payment that is refunded now, by the day on which the trial starts.
    case trialRefunded = "trial_refunded"
    /// A trial that the app grants itself, by the day on which it starts.
    case ownTrial = "own_trial"
    /// An own trial with the account's first payment in it or at most 60 days after its end, by the day on which the trial starts.
    case ownTrialConverted = "own_trial_converted"
    /// An own trial without such a payment that is not open any more, by the day on which it starts.
    case ownTrialLapsed = "own_trial_lapsed"
    /// A converted own trial with a payment that is refunded now, by the day on which the trial starts.
    case ownTrialRefunded = "own_trial_refunded"
    /// An attempt to buy that a transaction completed, by the instant of its first report.
    case attemptCompleted = "attempt_completed"
    /// A failed attempt to buy, by the instant of its first report.
    case attemptFailed = "attempt_failed"
    /// An attempt that the customer gave up, or that was pending for too long, by the instant of its first report.
    case attemptCancelled = "attempt_cancelled"
    /// An attempt that goes on, by the instant of its first report.
    case attemptPending = "attempt_pending"
    /// A completed restore, by the instant of its report.
    case restoreCompleted = "restore_completed"
    /// A failed restore, by the instant of its report.
    case restoreFailed = "restore_failed"
    /// A restore that found nothing, by the instant of its report.
    case restoreNothing = "restore_nothing"
    /// A restore that the customer gave up, by the instant of its report.
    case restoreCancelled = "restore_cancelled"
    /// What a sale that is not free brings after commission and tax, estimated, by its purchaseDate.
    case proceeds
    /// What a refund takes back of ``proceeds``, by its revocationDate.
    case proceedsBack = "proceeds_back"
    /// What the reversal of a refund gives again of ``proceeds``, by the date of the record that states it.
    case proceedsAgain = "proceeds_again"
    /// An account, by the instant from which it is known; and once more by its first payment, if that is earlier.
    case accountKnown = "account_known"
    /// The first payment of an account, by its purchaseDate.
    case accountPaid = "account_paid"
    /// An account with a first payment before the instant from which it is known. Its row stands on the day of the payment, and is taken off
    /// ``accountKnown`` on the day from which the account is known: so the account counts once.
    case accountEarly = "account_early"
    /// A period that counts at the end of the last day of the question. It is in no sum: its rows are those of what ``enter`` and ``leave`` add
    /// up to.
    case standing
    /// A customer that pays at the end of the last day of the question. It is in no sum.
    case standingCustomer = "standing_customer"

    /// Periods that change what a customer pays.
    package static let movements: [FigureMeasure] = [
        .new, .reactivation, .expansion, .contraction, .churnVoluntary, .churnBilling, .churnOther,
    ]
    /// Customers that begin or stop to pay.
    package static let customers: [FigureMeasure] = [
        .customerNew, .customerBack, .customerBackSoon, .customerLostVoluntary, .customerLostBilling,
        .customerLostOther,
    ]
    /// Apple's trials, and what came of them.
    package static let trials: [FigureMeasure] = [.trial, .trialConverted, .trialLapsed, .trialRefunded]
    /// The app's own trials, and what came of them. No order has them.
    package static let ownTrials: [FigureMeasure] = [
        .ownTrial, .ownTrialConverted, .ownTrialLapsed, .ownTrialRefunded,
    ]
    /// Attempts to buy, by how they ended.
    package static let attempts: [FigureMeasure] = [
        .attemptCompleted, .attemptFailed, .attemptCancelled, .attemptPending,
    ]
    /// Restores, by how they ended. No order has them.
    package static let restores: [FigureMeasure] = [
        .restoreCompleted, .restoreFailed, .restoreNothing, .restoreCancelled,
    ]
    /// What sales bring, less refunds.
    package static let netProceeds: [FigureMeasure] = [.proceeds, .proceedsBack, .proceedsAgain]
    /// Measures with an amount of money. Workers keep their sums in other currencies, too.
    package static let money: [FigureMeasure] =
        [.sale, .refundedSale, .refund, .reversal, .lateSale, .lateRefund, .lateReversal, .enter, .leave] + movements
        + netProceeds
    /// Accounts, and their first payments.
    package static let accounts: [FigureMeasure] = [.accountKnown, .accountPaid, .accountEarly]
    /// Measures with sums.
    package static let summed = allCases.filter { $0 != .standing && $0 != .standingCustomer }
    /// Measures whose rows a closed month records. ``enter`` and ``leave`` follow from what stands and what moves. Accounts are not recorded: an
    /// erasure leaves no row of them.
    package static let recorded = allCases.filter { $0 != .enter && $0 != .leave && !accounts.contains($0) }
}
