/// What figures are sums of: rows of the books, by the day that counts for them.
package enum FigureMeasure: String, Sendable, Hashable, CaseIterable {
    /// An order, by the day in its number.
    case order
    /// A paid period, or something that was bought once, by its purchaseDate. Free ones are among them.
    case sale
    /// What is refunded now of a sale, by the day of the sale.
    case refundedSale = "refunded_sale"
    /// A refund, by its revocationDate.
    case refund
    /// What a refund is taken back by, by the date of the record that says so.
    case reversal
    /// A sale, by the day on which it was heard of, where its own had ended more than 24 hours before.
    case lateSale = "late_sale"
    /// Likewise a refund.
    case lateRefund = "late_refund"
    /// Likewise a reversal.
    case lateReversal = "late_reversal"
    /// A period that begins to count for recurring revenue, by that instant, with its price a month. Free ones are not among them.
    case enter
    /// Likewise one that ends to count.
    case leave
    /// Periods that begin or end on a day, of a customer who pays at its end and never did before, with the price a month: less where they end.
    case new
    /// Likewise of one who had stopped to pay.
    case reactivation
    /// Likewise of one who pays more than at the end of the day before.
    case expansion
    /// Likewise of one who pays less, and not nothing.
    case contraction
    /// Likewise of one who stopped to pay by a decision.
    case churnVoluntary = "churn_voluntary"
    /// Likewise of one whose charge failed.
    case churnBilling = "churn_billing"
    /// Likewise of one for whose stop Apple gives another reason, or none.
    case churnOther = "churn_other"
    /// A customer who pays at the end of a day and never did before.
    case customerNew = "customer_new"
    /// A customer who pays again at the end of a day.
    case customerBack = "customer_back"
    /// Likewise, where the customer stopped in the same month of the calendar.
    case customerBackSoon = "customer_back_soon"
    /// A customer who paid at the end of the day before, and stopped by a decision.
    case customerLostVoluntary = "customer_lost_voluntary"
    /// Likewise, whose charge failed.
    case customerLostBilling = "customer_lost_billing"
    /// Likewise, where Apple gives another reason for it, or none.
    case customerLostOther = "customer_lost_other"
    /// A free trial of Apple's, by the day on which it starts.
    case trial
    /// Likewise one that was followed by a payment, at most 60 days after its end.
    case trialConverted = "trial_converted"
    /// Likewise one that was not, and is not open any more.
    case trialLapsed = "trial_lapsed"
    /// Likewise a converted one whose payment is refunded now.
    case trialRefunded = "trial_refunded"
    /// An attempt to buy that a transaction completed, by the instant of its first report.
    case attemptCompleted = "attempt_completed"
    /// Likewise one that failed.
    case attemptFailed = "attempt_failed"
    /// Likewise one that the customer gave up, or that was pending for too long.
    case attemptCancelled = "attempt_cancelled"
    /// Likewise one that goes on.
    case attemptPending = "attempt_pending"
    /// A restore that completed, by the instant of its report.
    case restoreCompleted = "restore_completed"
    /// Likewise one that failed.
    case restoreFailed = "restore_failed"
    /// Likewise one that found nothing to restore.
    case restoreNothing = "restore_nothing"
    /// Likewise one that the customer gave up.
    case restoreCancelled = "restore_cancelled"
    /// What a sale is estimated to bring after commission and tax, by its purchaseDate. Free ones are not among them.
    case proceeds
    /// Likewise what a refund takes back of it, by its revocationDate.
    case proceedsBack = "proceeds_back"
    /// Likewise what a reversal of that gives again, by the date of the record that says so.
    case proceedsAgain = "proceeds_again"
    /// An account, by the instant from which it is known or, where that is earlier, of its first payment.
    case accountKnown = "account_known"
    /// The first payment of an account, by its purchaseDate.
    case accountPaid = "account_paid"
    /// A period that counts at the end of the last day that is asked for. It is in no sum, and the rows of what ``enter`` and ``leave`` make.
    case standing
    /// A customer who pays then.
    case standingCustomer = "standing_customer"

    /// Periods that change what a customer pays.
    package static let movements: [FigureMeasure] = [
        .new, .reactivation, .expansion, .contraction, .churnVoluntary, .churnBilling, .churnOther,
    ]
    /// Customers who begin or stop to pay.
    package static let customers: [FigureMeasure] = [
        .customerNew, .customerBack, .customerBackSoon, .customerLostVoluntary, .customerLostBilling,
        .customerLostOther,
    ]
    /// Trials, and what came of them.
    package static let trials: [FigureMeasure] = [.trial, .trialConverted, .trialLapsed, .trialRefunded]
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
    /// Accounts, and their first payments.
    package static let accounts: [FigureMeasure] = [.accountKnown, .accountPaid]
    /// Those that are in sums.
    package static let summed = allCases.filter { $0 != .standing && $0 != .standingCustomer }
    /// Those whose rows a closed month records: what begins and ends follows from what stands and what moves, and an account that is erased
    /// later leaves nothing.
    package static let recorded = allCases.filter { $0 != .enter && $0 != .leave && !accounts.contains($0) }
}
