/// What the store intends with a purchase next, as it stands now; dates are epoch milliseconds.
package struct ModelRenewal: Sendable, Hashable {
    /// The first transaction of the purchase.
    package var originalTransactionId: String
    /// The plan of the most recent period.
    package var plan: ModelPlan
    /// The plan of the coming one.
    package var nextPlan: ModelPlan
    /// Whether it will renew.
    package var renews = true
    /// The end of the most recent period.
    package var renewalDate: Int64
    /// When the current run of periods began.
    package var recentStart: Int64
    /// Why it ended: 1 customer, 2 billing, 3 price increase, 4 product gone, 5 other.
    package var expirationIntent: Int64?
    /// Whether the store is trying to charge; mostly absent rather than false.
    package var isInBillingRetry: Bool?
    /// The end of grace, which the store may leave standing long after it mattered.
    package var graceEnd: Int64?
    /// 0 while a price increase awaits an answer, 1 once agreed.
    package var priceIncreaseStatus: Int64?
    /// The discount of the coming period.
    package var nextOffer: ModelOffer?
    /// The account that the coming period will carry.
    package var appAccountToken: String?

    /// The intentions right after a period was bought: renew the same plan at its end.
    package init(after transaction: ModelTransaction, recentStart: Int64? = nil) {
        originalTransactionId = transaction.originalTransactionId
        plan = transaction.plan
        nextPlan = transaction.plan
        renewalDate = transaction.expiresDate
        self.recentStart = recentStart ?? transaction.originalPurchaseDate
        appAccountToken = transaction.appAccountToken
    }

    /// The payload of `signedRenewalInfo`, signed at the instant in epoch milliseconds.
    package func json(signedDate: Int64) -> [UInt8] {
        var json = ModelJSON()
        json.add("expirationIntent", expirationIntent)
        json.add("originalTransactionId", originalTransactionId)
        json.add("autoRenewProductId", nextPlan.productId)
        json.add("productId", plan.productId)
        json.add("autoRenewStatus", Int64(renews ? 1 : 0))
        json.add("isInBillingRetryPeriod", isInBillingRetry)
        json.add("priceIncreaseStatus", priceIncreaseStatus)
        json.add("gracePeriodExpiresDate", graceEnd)
        json.add("offerType", nextOffer?.type)
        json.add("offerIdentifier", nextOffer?.identifier)
        json.add("offerDiscountType", nextOffer?.discountType)
        json.add("offerPeriod", nextOffer?.period)
        json.add("signedDate", signedDate)
        json.add("environment", ModelNotification.environment)
        json.add("recentSubscriptionStartDate", recentStart)
        json.add("renewalDate", renewalDate)
        if renews {
            json.add("renewalPrice", nextOffer?.price(of: nextPlan) ?? nextPlan.price)
            json.add("currency", "USD")
        }
        json.add("appAccountToken", appAccountToken)
        json.add("appTransactionId", "70" + originalTransactionId)
        return json.bytes
    }
}
