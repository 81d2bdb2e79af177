/// A subscription's renewal info as the simulated store would sign it: the members of Apple's `JWSRenewalInfo`, in Apple's order.
public struct RenewalRecord: Sendable, Hashable, Codable {
    /// How `gracePeriodExpiresDate` is written: Apple has been seen to leave it out, and to write null, even in grace.
    public enum GraceDate: Sendable, Hashable, Codable {
        /// Left out.
        case absent
        /// Written as null.
        case null
        /// Written.
        case date(Milliseconds)
    }

    /// 1 customer cancelled, 2 billing, 3 price increase not agreed, 4 product unavailable, 5 other.
    public var expirationIntent: Int?
    /// The subscription.
    public var originalTransactionId: String
    /// The product of the coming renewal.
    public var autoRenewProductId: String
    /// The product of the current period.
    public var productId: String
    /// 0 off, 1 on.
    public var autoRenewStatus: Int
    /// True in billing retry; false only once the subscription has ended; else left out.
    public var isInBillingRetryPeriod: Bool?
    /// 0 not answered, 1 agreed or informed.
    public var priceIncreaseStatus: Int?
    /// End of the grace period.
    public var gracePeriodExpiresDate: GraceDate
    /// The offer of the coming renewal.
    public var offer: SimulatedOffer?
    /// Price of the coming renewal in milliunits; left out when there will be none.
    public var renewalPrice: Int64?
    /// ISO 4217 code of `renewalPrice`.
    public var currency: String?
    /// When this record was signed.
    public var signedDate: Milliseconds
    /// `Sandbox` or `Production`.
    public var environment: String
    /// Start of the present run of periods, lapses of less than 60 days not counted.
    public var recentSubscriptionStartDate: Milliseconds?
    /// When the latest purchase runs out and the next charge is due.
    public var renewalDate: Milliseconds?
    /// The customer's download of the app.
    public var appTransactionId: String?
    /// The account token of the coming renewal.
    public var appAccountToken: String?
    /// Offers that would win the customer back, after the end.
    public var eligibleWinBackOfferIds: [String]?

    /// The record's JSON, to be signed.
    public var json: [UInt8] {
        JSONObjectWriter.object { json in
            json.member("expirationIntent", expirationIntent)
            json.member("originalTransactionId", originalTransactionId)
            json.member("autoRenewProductId", autoRenewProductId)
            json.member("productId", productId)
            json.member("autoRenewStatus", autoRenewStatus)
            json.member("isInBillingRetryPeriod", isInBillingRetryPeriod)
            json.member("priceIncreaseStatus", priceIncreaseStatus)
            switch gracePeriodExpiresDate {
            case .absent: break
            case .null: json.null("gracePeriodExpiresDate")
            case .date(let date): json.member("gracePeriodExpiresDate", date)
            }
            json.member("offerType", offer?.kind.rawValue)
            json.member("offerIdentifier", offer?.identifier)
            json.member("renewalPrice", renewalPrice)
            json.member("currency", currency)
            json.member("signedDate", signedDate)
            json.member("environment", environment)
            json.member("recentSubscriptionStartDate", recentSubscriptionStartDate)
            json.member("renewalDate", renewalDate)
            json.member("offerDiscountType", offer?.discountType)
            json.member("eligibleWinBackOfferIds", eligibleWinBackOfferIds)
            json.member("appTransactionId", appTransactionId)
            json.member("offerPeriod", offer?.period)
            json.member("appAccountToken", appAccountToken)
        }
    }
}
