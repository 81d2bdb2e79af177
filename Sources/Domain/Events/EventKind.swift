/// What an event reports; the raw values are the `type` of its body. Others build on these names: they never change.
///
/// About a subscription three kinds of facts are reported:
/// - *Periods*: each that was paid for or given, once, whenever its record is received.
/// - *Refunds*: each refunded transaction, of the present period or an older one, and each refund that was taken back.
/// - *Changes* of the subscription, unless a period or a refund already says what has changed.
public enum EventKind: String, Sendable, Hashable, CaseIterable {
    /// A period: bought while nothing gave access, for the first time or again.
    case subscriptionStarted = "subscription.started"
    /// A period: the introductory free trial.
    case subscriptionTrialStarted = "subscription.trial_started"
    /// A period: the first one that was paid after the introductory free trial. It is none of the other kinds, and its beginning is no change:
    /// where it was charged ahead, the event already says what the subscription is from then on. A change: the trial is over, and a period has begun whose charge was
    /// not reported.
    case subscriptionConverted = "subscription.converted"
    /// A period: renewed. A change: Apple's renewal info names the end of one whose own record was not heard.
    case subscriptionRenewed = "subscription.renewed"
    /// A period: renewed after a charge had failed. A change: access is back, for no reason that is known.
    case subscriptionRecovered = "subscription.recovered"
    /// A change: auto-renew is off; access goes on to the end of what is paid.
    case subscriptionCancelled = "subscription.cancelled"
    /// A change: auto-renew is on again.
    case subscriptionUncancelled = "subscription.uncancelled"
    /// A change: the charge failed, and access goes on for a while.
    case subscriptionGracePeriodStarted = "subscription.grace_period_started"
    /// A change: the charge failed, and access does not go on.
    case subscriptionBillingRetryStarted = "subscription.billing_retry_started"
    /// A change: over.
    case subscriptionExpired = "subscription.expired"
    /// A period: another product, bought while one gave access. A change: renewed to another product.
    case subscriptionProductChanged = "subscription.product_changed"
    /// A change: it is going to renew to another product than was reported.
    case subscriptionRenewalProductChanged = "subscription.renewal_product_changed"
    /// A change: the end of what is paid was moved.
    case subscriptionExtended = "subscription.extended"
    /// A refund: of the transaction that the event names.
    case subscriptionRefunded = "subscription.refunded"
    /// A refund that was taken back.
    case subscriptionRefundReversed = "subscription.refund_reversed"
    /// A change: access ended, because money went back or the family no longer shares it.
    case subscriptionRevoked = "subscription.revoked"
    /// A change: the customer is asked to agree to a higher price.
    case subscriptionPriceIncreasePending = "subscription.price_increase_pending"
    /// A change: the customer need not be asked any more, and it goes on.
    case subscriptionPriceIncreaseAgreed = "subscription.price_increase_agreed"
    /// Nothing has changed: the end is so many days away, and nothing is going to renew it.
    case subscriptionExpiringSoon = "subscription.expiring_soon"
    /// The purchase is another account's.
    case subscriptionTransferred = "subscription.transferred"
    /// Something was bought once.
    case purchaseCompleted = "purchase.completed"
    /// Money went back for it.
    case purchaseRefunded = "purchase.refunded"
    /// The refund was taken back.
    case purchaseRefundReversed = "purchase.refund_reversed"
    /// The family no longer shares it.
    case purchaseRevoked = "purchase.revoked"
    /// It is another account's.
    case purchaseTransferred = "purchase.transferred"
    /// The account's tier or status is another.
    case accountAccessChanged = "account.access_changed"
    /// A customer has asked for a refund, and Apple wants data.
    case consumptionRequested = "consumption.requested"
    /// Apple was answered.
    case consumptionAnswered = "consumption.answered"
    /// Requested, to see whether events arrive.
    case test
}
