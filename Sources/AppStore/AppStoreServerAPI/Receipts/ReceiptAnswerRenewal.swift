public import AppStorePayloads
public import Base

/// What is to come of a subscription, in verifyReceipt's answer.
public struct ReceiptAnswerRenewal: Sendable, Hashable {
    /// The subscription.
    public let originalTransactionId: String
    /// The product of the present period.
    public let productId: String?
    /// The product of the next one.
    public let autoRenewProductId: String?
    /// Whether there will be a next one.
    public let autoRenewStatus: AutoRenewStatus?
    /// Why there is none.
    public let expirationIntent: ExpirationIntent?
    /// Whether Apple still tries to charge.
    public let isInBillingRetryPeriod: Bool?
    /// Until when access goes on although the charge failed.
    public let gracePeriodExpiresDate: Timestamp?
    /// Whether the customer has agreed to a higher price.
    public let priceConsentStatus: PriceIncreaseStatus?

    /// Reads one; nil for what names no subscription, or one by an id that no record can have.
    init?(_ object: JSONObject) {
        guard let id = object.lenientText("original_transaction_id"), !id.isEmpty,
            !TextMember.originalTransactionId.isExceeded(by: id)
        else { return nil }
        originalTransactionId = id
        productId = object.string("product_id")
        autoRenewProductId = object.string("auto_renew_product_id")
        autoRenewStatus = object.lenientInteger("auto_renew_status").map(AutoRenewStatus.init(rawValue:))
        expirationIntent = object.lenientInteger("expiration_intent").map(ExpirationIntent.init(rawValue:))
        isInBillingRetryPeriod = object.lenientFlag("is_in_billing_retry_period")
        gracePeriodExpiresDate = object.lenientDate("grace_period_expires_date_ms")
        priceConsentStatus =
            (object.lenientInteger("price_consent_status")
            ?? object.lenientInteger("price_increase_status")).map(PriceIncreaseStatus.init(rawValue:))
    }
}
