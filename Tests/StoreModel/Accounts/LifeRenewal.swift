/// One signed renewal info in an account's life; dates are epoch milliseconds.
package struct LifeRenewal: Sendable, Hashable {
    /// The first transaction of the line.
    package var line: String
    /// The product of the newest purchase.
    package var product: String
    /// The product that it renews to.
    package var nextProduct: String
    /// Whether auto-renew is on.
    package var renews = true
    /// `renewalDate`: the end of the newest purchase.
    package var date: Int64?
    /// `isInBillingRetryPeriod`, absent rather than false.
    package var isInRetry: Bool?
    /// `gracePeriodExpiresDate`.
    package var graceEnds: Int64?
    /// `expirationIntent`.
    package var intent: Int64?
    /// `appAccountToken`: of the coming renewal.
    package var token: String?
    /// `signedDate`.
    package var signed: Int64

    /// A record about the newest purchase that is not signed yet.
    package init(after transaction: LifeTransaction) {
        line = transaction.line
        product = transaction.product
        nextProduct = transaction.product
        date = transaction.expires
        token = transaction.token
        signed = transaction.signed
    }

    /// The payload of `signedRenewalInfo`.
    package var json: [UInt8] {
        var json = ModelJSON()
        json.add("expirationIntent", intent)
        json.add("originalTransactionId", line)
        json.add("autoRenewProductId", nextProduct)
        json.add("productId", product)
        json.add("autoRenewStatus", Int64(renews ? 1 : 0))
        json.add("isInBillingRetryPeriod", isInRetry)
        json.add("gracePeriodExpiresDate", graceEnds)
        json.add("signedDate", signed)
        json.add("environment", ModelNotification.environment)
        json.add("renewalDate", date)
        json.add("appAccountToken", token)
        return json.bytes
    }
}
