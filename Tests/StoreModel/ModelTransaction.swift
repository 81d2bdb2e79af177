/// One transaction as the store has it now; dates are epoch milliseconds.
package struct ModelTransaction: Sendable, Hashable {
    /// The transaction.
    package var transactionId: String
    /// The first transaction of the purchase.
    package var originalTransactionId: String
    /// One a paid period.
    package var webOrderLineItemId: String
    /// What was bought.
    package var plan: ModelPlan
    /// When the period begins.
    package var purchaseDate: Int64
    /// When the very first period was bought.
    package var originalPurchaseDate: Int64
    /// When the period ends.
    package var expiresDate: Int64
    /// `PURCHASE` or `RENEWAL`.
    package var reason: String
    /// Whether a member of the family pays for it.
    package var isFamilyShared = false
    /// The app's name for the account.
    package var appAccountToken: String?
    /// The discount taken.
    package var offer: ModelOffer?
    /// What became of it if the store took it back.
    package var revocation: Revocation?
    /// Whether an upgrade replaced it; the store leaves the field out rather than writing false.
    package var isUpgraded = false

    /// How the store took a transaction back.
    package struct Revocation: Sendable, Hashable {
        /// When, in epoch milliseconds.
        package var date: Int64
        /// 0 other, 1 a fault of the app.
        package var reason: Int64
        /// `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
        package var type: String
        /// How much, in thousandths of a percent; absent for family sharing.
        package var percentage: Int64?
    }

    /// Buys a period of the plan that begins at the instant and lasts as long as plan and offer say.
    package init(
        _ transactionId: String, of originalTransactionId: String, plan: ModelPlan, begins: Int64, firstBought: Int64,
        reason: String, appAccountToken: String? = nil, offer: ModelOffer? = nil
    ) {
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        // Any injective choice does: what counts is that every period has its own.
        self.webOrderLineItemId = "9" + transactionId
        self.plan = plan
        self.purchaseDate = begins
        self.originalPurchaseDate = firstBought
        self.expiresDate = begins + (offer?.days ?? plan.days) * ModelTime.day
        self.reason = reason
        self.appAccountToken = appAccountToken
        self.offer = offer
    }

    /// The payload of `signedTransactionInfo`, signed at the instant in epoch milliseconds.
    package func json(signedDate: Int64) -> [UInt8] {
        var json = ModelJSON()
        json.add("transactionId", transactionId)
        json.add("originalTransactionId", originalTransactionId)
        json.add("webOrderLineItemId", webOrderLineItemId)
        json.add("bundleId", ModelNotification.bundleId)
        json.add("productId", plan.productId)
        json.add("subscriptionGroupIdentifier", "21000001")
        json.add("purchaseDate", purchaseDate)
        json.add("originalPurchaseDate", originalPurchaseDate)
        json.add("expiresDate", expiresDate)
        json.add("quantity", Int64(1))
        json.add("type", "Auto-Renewable Subscription")
        json.add("appAccountToken", appAccountToken)
        json.add("inAppOwnershipType", isFamilyShared ? "FAMILY_SHARED" : "PURCHASED")
        json.add("signedDate", signedDate)
        json.add("revocationReason", revocation?.reason)
        json.add("revocationDate", revocation?.date)
        json.add("revocationType", revocation?.type)
        json.add("revocationPercentage", revocation?.percentage)
        json.add("isUpgraded", isUpgraded ? true : nil)
        json.add("offerType", offer?.type)
        json.add("offerIdentifier", offer?.identifier)
        json.add("offerDiscountType", offer?.discountType)
        json.add("offerPeriod", offer?.period)
        json.add("environment", ModelNotification.environment)
        json.add("transactionReason", reason)
        json.add("storefront", "USA")
        json.add("storefrontId", "143441")
        if !isFamilyShared {
            json.add("price", offer?.price(of: plan) ?? plan.price)
            json.add("currency", "USD")
        }
        json.add("appTransactionId", "70" + originalTransactionId)
        return json.bytes
    }
}
