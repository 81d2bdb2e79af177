/// A transaction as the simulated store would sign it: the members of Apple's `JWSTransaction`, in Apple's order.
public struct TransactionRecord: Sendable, Hashable, Codable {
    /// New for every purchase, renewal and restore.
    public var transactionId: String
    /// The first transaction of the line; the same as `transactionId` there.
    public var originalTransactionId: String
    /// One for each paid period of a subscription, the same on every device and after a restore.
    public var webOrderLineItemId: String?
    /// The app.
    public var bundleId: String
    /// The product.
    public var productId: String
    /// The subscription group, for auto-renewables.
    public var subscriptionGroupIdentifier: String?
    /// Start of the period, or the moment of purchase; may lie after `signedDate` when a renewal comes early.
    public var purchaseDate: Milliseconds
    /// The purchase date of the line's first transaction, sometimes off by seconds.
    public var originalPurchaseDate: Milliseconds
    /// End of the period, for auto-renewables.
    public var expiresDate: Milliseconds?
    /// How many were bought.
    public var quantity: Int
    /// The kind of product, in Apple's words.
    public var type: String
    /// The UUID that the app gave for the customer's account.
    public var appAccountToken: String?
    /// `PURCHASED` or `FAMILY_SHARED`.
    public var inAppOwnershipType: String
    /// When this record was signed.
    public var signedDate: Milliseconds
    /// 0 other, 1 an issue with the app.
    public var revocationReason: Int?
    /// When the App Store took the transaction back.
    public var revocationDate: Milliseconds?
    /// `REFUND_FULL`, `REFUND_PRORATED` or `FAMILY_REVOKE`.
    public var revocationType: String?
    /// Refunded share in thousandths of a percent.
    public var revocationPercentage: Int64?
    /// True once an upgrade has replaced the period; written only then.
    public var isUpgraded: Bool
    /// The offer under which the period was bought.
    public var offer: SimulatedOffer?
    /// `Sandbox` or `Production`.
    public var environment: String
    /// `PURCHASE` or `RENEWAL`.
    public var transactionReason: String
    /// Country of the storefront.
    public var storefront: String
    /// Apple's number of the storefront.
    public var storefrontId: String
    /// What was paid, in milliunits of `currency`, quantity and offer included.
    public var price: Int64
    /// ISO 4217 code.
    public var currency: String
    /// The customer's download of the app.
    public var appTransactionId: String?
    /// What the Advanced Commerce API sold, where it did.
    public var advancedCommerce: AdvancedCommerceRecord?

    /// The record's JSON, to be signed.
    public var json: [UInt8] {
        JSONObjectWriter.object { json in
            json.member("transactionId", transactionId)
            json.member("originalTransactionId", originalTransactionId)
            json.member("webOrderLineItemId", webOrderLineItemId)
            json.member("bundleId", bundleId)
            json.member("productId", productId)
            json.member("subscriptionGroupIdentifier", subscriptionGroupIdentifier)
            json.member("purchaseDate", purchaseDate)
            json.member("originalPurchaseDate", originalPurchaseDate)
            json.member("expiresDate", expiresDate)
            json.member("quantity", quantity)
            json.member("type", type)
            json.member("appAccountToken", appAccountToken)
            json.member("inAppOwnershipType", inAppOwnershipType)
            json.member("signedDate", signedDate)
            json.member("revocationReason", revocationReason)
            json.member("revocationDate", revocationDate)
            json.member("revocationType", revocationType)
            json.member("revocationPercentage", revocationPercentage)
            json.member("isUpgraded", isUpgraded ? true : nil)
            json.member("offerType", offer?.kind.rawValue)
            json.member("offerIdentifier", offer?.identifier)
            json.member("environment", environment)
            json.member("transactionReason", transactionReason)
            json.member("storefront", storefront)
            json.member("storefrontId", storefrontId)
            json.member("price", price)
            json.member("currency", currency)
            json.member("offerDiscountType", offer?.discountType)
            json.member("appTransactionId", appTransactionId)
            json.member("offerPeriod", offer?.period)
            if let advancedCommerce { json.object("advancedCommerceInfo", advancedCommerce.write) }
        }
    }
}
