/// One signed copy of a transaction in an account's life, as Apple would send it; dates are epoch milliseconds.
///
/// Unlike ``ModelTransaction`` it is any record that may be heard, not what the store holds.
package struct LifeTransaction: Sendable, Hashable {
    /// What was bought.
    package enum Kind: String, Sendable, Hashable {
        /// Renews itself.
        case subscription = "Auto-Renewable Subscription"
        /// Bought for good.
        case forever = "Non-Consumable"
        /// Used up.
        case consumable = "Consumable"
        /// Lasts a while, and the app says how long.
        case term = "Non-Renewing Subscription"
    }

    /// The transaction.
    package var id: String
    /// The first transaction of the line.
    package var line: String
    /// One a paid period; absent for what is bought once.
    package var lineItem: String?
    /// The product.
    package var product: String
    /// What it is.
    package var kind = Kind.subscription
    /// `purchaseDate`.
    package var purchased: Int64
    /// `originalPurchaseDate`; by default that of the purchase.
    package var firstPurchased: Int64?
    /// `expiresDate`.
    package var expires: Int64?
    /// `transactionReason`: `PURCHASE`, `RENEWAL`, or absent, as in old records.
    package var reason: String?
    /// `additionalTransactionReason`: says that the transaction is a part of a period.
    package var additionalReason: String?
    /// Whether it is Apple's introductory free trial.
    package var isTrial = false
    /// `appAccountToken`.
    package var token: String?
    /// `revocationDate`.
    package var revoked: Int64?
    /// `revocationPercentage`: how much was taken back, in thousandths of a percent; absent for all of it.
    package var percentage: Int64?
    /// `isUpgraded`; Apple leaves the field out rather than writing false.
    package var isUpgraded = false
    /// How many.
    package var quantity: Int64 = 1
    /// `signedDate`.
    package var signed: Int64

    /// A record that is not signed yet.
    package init(
        id: String, line: String, product: String, purchased: Int64, expires: Int64?, reason: String?,
        token: String? = nil
    ) {
        self.id = id
        self.line = line
        self.product = product
        self.purchased = purchased
        self.expires = expires
        self.reason = reason
        self.token = token
        lineItem = expires == nil ? nil : "9" + id
        signed = purchased
    }

    /// The payload of `signedTransactionInfo`.
    package var json: [UInt8] {
        var json = ModelJSON()
        json.add("transactionId", id)
        json.add("originalTransactionId", line)
        json.add("webOrderLineItemId", lineItem)
        json.add("bundleId", ModelNotification.bundleId)
        json.add("productId", product)
        json.add("subscriptionGroupIdentifier", kind == .subscription ? "21000001" : nil)
        json.add("purchaseDate", purchased)
        json.add("originalPurchaseDate", firstPurchased ?? purchased)
        json.add("expiresDate", expires)
        json.add("quantity", quantity)
        json.add("type", kind.rawValue)
        json.add("appAccountToken", token)
        json.add("inAppOwnershipType", "PURCHASED")
        json.add("signedDate", signed)
        json.add("revocationReason", revoked == nil ? nil : Int64(0))
        json.add("revocationDate", revoked)
        json.add("revocationPercentage", percentage)
        json.add("isUpgraded", isUpgraded ? true : nil)
        json.add("offerType", isTrial ? Int64(1) : nil)
        json.add("offerDiscountType", isTrial ? "FREE_TRIAL" : nil)
        json.add("environment", ModelNotification.environment)
        json.add("transactionReason", reason)
        json.add("additionalTransactionReason", additionalReason)
        json.add("price", isTrial ? Int64(0) : 4_990)
        json.add("currency", "USD")
        return json.bytes
    }
}
