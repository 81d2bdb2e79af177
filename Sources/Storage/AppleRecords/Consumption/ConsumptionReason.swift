/// Why a request is not answered, so far or at all, where that is ours to say; else it is a code of Apple's or of the way there. The
/// raw values are names that others build on: they never change.
package enum ConsumptionReason: String, Sendable, Hashable, CaseIterable {
    /// What it is about is not known here.
    case noTransaction = "no_transaction"
    /// The purchase names no account, so there can be no consent for it.
    case noAccount = "no_account"
    /// The customer was never asked, or has not agreed.
    case noConsent = "no_consent"
    /// The customer has agreed and taken it back.
    case consentWithdrawn = "consent_withdrawn"
    /// No worker has a policy.
    case noPolicy = "no_policy"
    /// No rule of the policy fits.
    case noRule = "no_rule"
    /// A rule of the policy says so.
    case leftToApple = "left_to_apple"
    /// Apple takes no answer about what a family or a seat shares: its user did not pay.
    case notPurchased = "not_purchased"
    /// Apple would refuse what the policy says for this kind of product.
    case unfitAnswer = "unfit_answer"
    /// No worker that has looked has a key for the app.
    case noKey = "no_key"
    /// A request of the staff's for a refund waits for its decision.
    case refundPending = "refund_pending"
    /// Staff decided about a refund while the answer was prepared.
    case refundDecided = "refund_decided"
    /// An answer about the same transaction is on its way, for an earlier request.
    case anotherUnderWay = "another_under_way"
    /// The transaction was answered about before, or may have been.
    case answeredBefore = "answered_before"
    /// It was heard of after its deadline.
    case heardLate = "heard_late"
    /// The deadline is over.
    case deadlineOver = "deadline_over"
    /// No worker has looked at it.
    case notLookedAt = "not_looked_at"
    /// Too much time went by between reading the consent and sending.
    case stoodStill = "stood_still"
    /// The worker that was sending the answer was gone before the end.
    case workerGone = "worker_gone"
    /// Apple took it after the deadline.
    case acceptedLate = "accepted_late"
}

/// What became of a request. The raw values are names that others build on: they never change.
package enum ConsumptionOutcome: String, Sendable, Hashable, CaseIterable {
    /// Apple took the answer in time.
    case answered
    /// It could have been answered, and was not in time.
    case late
    /// Apple refused the answer for good.
    case refused
    /// By choice, or without the customer's consent.
    case notAnswered = "not_answered"
    /// It is not known whether Apple has the answer; it is not sent twice.
    case unknown
}
