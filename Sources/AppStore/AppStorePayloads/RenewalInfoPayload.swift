public import Base

/// What will happen at the next renewal, as Apple signed it (the payload of `signedRenewalInfo`).
///
/// Required are the key and what orders records of the same key; an optional field of the wrong JSON type is read as missing.
/// Apple gives no bundleId here.
public struct RenewalInfoPayload: Sendable, Hashable {
    /// The first transaction of the purchase.
    public var originalTransactionId: String
    /// When Apple signed this record.
    public var signedDate: Timestamp
    /// Where it was made; absent in old records.
    public var environment: Environment?
    /// The product now.
    public var productId: String?
    /// The product at the next renewal.
    public var autoRenewProductId: String?
    /// Whether it will renew.
    public var autoRenewStatus: AutoRenewStatus?
    /// When.
    public var renewalDate: Timestamp?
    /// Why it ended.
    public var expirationIntent: ExpirationIntent?
    /// Whether Apple is still trying to charge; absent rather than false.
    public var isInBillingRetryPeriod: Bool?
    /// The end of grace; may be absent even in grace.
    public var gracePeriodExpiresDate: Timestamp?
    /// The answer to a price increase.
    public var priceIncreaseStatus: PriceIncreaseStatus?
    /// The price of the next renewal, in thousandths of the currency's unit.
    public var renewalPrice: Int64?
    /// ISO 4217 code.
    public var currency: String?
    /// The kind of offer of the coming renewal.
    public var offerType: OfferType?
    /// The offer of the coming renewal.
    public var offerIdentifier: String?
    /// How that offer is paid.
    public var offerDiscountType: OfferDiscountType?
    /// That offer's length, an ISO 8601 duration.
    public var offerPeriod: String?
    /// Win-back offers the customer may take, best first.
    public var eligibleWinBackOfferIds: [String]?
    /// When the current run of periods began, gaps of up to sixty days not counted.
    public var recentSubscriptionStartDate: Timestamp?
    /// The app's own name for the account; anything but a UUID is read as missing.
    public var appAccountToken: UniqueIdentifier?
    /// The customer's download of the app.
    public var appTransactionId: String?
    /// The JSON text exactly as it was signed: what the fields above do not model is still in it.
    public var json: [UInt8]

    /// Creates the value from its parts; whatever Apple may leave out is absent unless given.
    public init(
        originalTransactionId: String,
        signedDate: Timestamp,
        environment: Environment? = nil,
        productId: String? = nil,
        autoRenewProductId: String? = nil,
        autoRenewStatus: AutoRenewStatus? = nil,
        renewalDate: Timestamp? = nil,
        expirationIntent: ExpirationIntent? = nil,
        isInBillingRetryPeriod: Bool? = nil,
        gracePeriodExpiresDate: Timestamp? = nil,
        priceIncreaseStatus: PriceIncreaseStatus? = nil,
        renewalPrice: Int64? = nil,
        currency: String? = nil,
        offerType: OfferType? = nil,
        offerIdentifier: String? = nil,
        offerDiscountType: OfferDiscountType? = nil,
        offerPeriod: String? = nil,
        eligibleWinBackOfferIds: [String]? = nil,
        recentSubscriptionStartDate: Timestamp? = nil,
        appAccountToken: UniqueIdentifier? = nil,
        appTransactionId: String? = nil,
        json: [UInt8] = []
    ) {
        self.originalTransactionId = originalTransactionId
        self.signedDate = signedDate
        self.environment = environment
        self.productId = productId
        self.autoRenewProductId = autoRenewProductId
        self.autoRenewStatus = autoRenewStatus
        self.renewalDate = renewalDate
        self.expirationIntent = expirationIntent
        self.isInBillingRetryPeriod = isInBillingRetryPeriod
        self.gracePeriodExpiresDate = gracePeriodExpiresDate
        self.priceIncreaseStatus = priceIncreaseStatus
        self.renewalPrice = renewalPrice
        self.currency = currency
        self.offerType = offerType
        self.offerIdentifier = offerIdentifier
        self.offerDiscountType = offerDiscountType
        self.offerPeriod = offerPeriod
        self.eligibleWinBackOfferIds = eligibleWinBackOfferIds
        self.recentSubscriptionStartDate = recentSubscriptionStartDate
        self.appAccountToken = appAccountToken
        self.appTransactionId = appTransactionId
        self.json = json
    }
}
