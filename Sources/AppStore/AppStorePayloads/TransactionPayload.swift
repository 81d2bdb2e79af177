public import Base

/// One transaction, as Apple signed it (the payload of `signedTransactionInfo`).
///
/// Required are the key and what orders records of the same key; everything else may be missing. An optional field of the wrong
/// JSON type is read as missing rather than losing the record: its text stays in ``json``.
public struct TransactionPayload: Sendable, Hashable {
    /// The transaction: new for every renewal and every restore.
    public var transactionId: String
    /// The first transaction of the purchase.
    public var originalTransactionId: String
    /// The app.
    public var bundleId: String
    /// When Apple signed this record.
    public var signedDate: Timestamp
    /// Where it was made; absent in old records.
    public var environment: Environment?
    /// One a paid period, stable across devices: the key for money.
    public var webOrderLineItemId: String?
    /// The product.
    public var productId: String?
    /// The group in which subscriptions exclude each other.
    public var subscriptionGroupIdentifier: String?
    /// When it was, or for an early renewal will be, charged.
    public var purchaseDate: Timestamp?
    /// The purchase date of the original transaction.
    public var originalPurchaseDate: Timestamp?
    /// The end of the paid period.
    public var expiresDate: Timestamp?
    /// How many.
    public var quantity: Int64?
    /// The kind of product.
    public var type: ProductType?
    /// Bought or shared.
    public var inAppOwnershipType: OwnershipType?
    /// The app's own name for the account; anything but a UUID is read as missing.
    public var appAccountToken: UniqueIdentifier?
    /// When Apple took it back; absent again after a reversal.
    public var revocationDate: Timestamp?
    /// Why.
    public var revocationReason: RevocationReason?
    /// How.
    public var revocationType: RevocationType?
    /// How much, in thousandths of a percent: 100000 is all of it.
    public var revocationPercentage: Int64?
    /// Whether an upgrade replaced it.
    public var isUpgraded: Bool?
    /// The kind of offer taken.
    public var offerType: OfferType?
    /// The offer.
    public var offerIdentifier: String?
    /// How the offer is paid.
    public var offerDiscountType: OfferDiscountType?
    /// The offer's length, an ISO 8601 duration.
    public var offerPeriod: String?
    /// A purchase or a renewal.
    public var transactionReason: TransactionReason?
    /// Why it stands beside other transactions of its period, as Apple writes it (`SEAT_ADDITION`).
    public var additionalTransactionReason: String?
    /// The storefront's country (ISO 3166-1 alpha-3).
    public var storefront: String?
    /// The storefront in Apple's numbering.
    public var storefrontId: String?
    /// Thousandths of the currency's unit, quantity and offer included, also for currencies without decimals.
    public var price: Int64?
    /// ISO 4217 code.
    public var currency: String?
    /// The customer's download of the app.
    public var appTransactionId: String?
    /// The billing plan, as Apple writes it.
    public var billingPlanType: String?
    /// The app's Apple ID, where the record says it.
    public var appAppleId: Int64?
    /// The JSON text exactly as it was signed: what the fields above do not model is still in it.
    public var json: [UInt8]

    /// Creates the value from its parts; whatever Apple may leave out is absent unless given.
    public init(
        transactionId: String,
        originalTransactionId: String,
        bundleId: String,
        signedDate: Timestamp,
        environment: Environment? = nil,
        webOrderLineItemId: String? = nil,
        productId: String? = nil,
        subscriptionGroupIdentifier: String? = nil,
        purchaseDate: Timestamp? = nil,
        originalPurchaseDate: Timestamp? = nil,
        expiresDate: Timestamp? = nil,
        quantity: Int64? = nil,
        type: ProductType? = nil,
        inAppOwnershipType: OwnershipType? = nil,
        appAccountToken: UniqueIdentifier? = nil,
        revocationDate: Timestamp? = nil,
        revocationReason: RevocationReason? = nil,
        revocationType: RevocationType? = nil,
        revocationPercentage: Int64? = nil,
        isUpgraded: Bool? = nil,
        offerType: OfferType? = nil,
        offerIdentifier: String? = nil,
        offerDiscountType: OfferDiscountType? = nil,
        offerPeriod: String? = nil,
        transactionReason: TransactionReason? = nil,
        additionalTransactionReason: String? = nil,
        storefront: String? = nil,
        storefrontId: String? = nil,
        price: Int64? = nil,
        currency: String? = nil,
        appTransactionId: String? = nil,
        billingPlanType: String? = nil,
        appAppleId: Int64? = nil,
        json: [UInt8] = []
    ) {
        self.transactionId = transactionId
        self.originalTransactionId = originalTransactionId
        self.bundleId = bundleId
        self.signedDate = signedDate
        self.environment = environment
        self.webOrderLineItemId = webOrderLineItemId
        self.productId = productId
        self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
        self.purchaseDate = purchaseDate
        self.originalPurchaseDate = originalPurchaseDate
        self.expiresDate = expiresDate
        self.quantity = quantity
        self.type = type
        self.inAppOwnershipType = inAppOwnershipType
        self.appAccountToken = appAccountToken
        self.revocationDate = revocationDate
        self.revocationReason = revocationReason
        self.revocationType = revocationType
        self.revocationPercentage = revocationPercentage
        self.isUpgraded = isUpgraded
        self.offerType = offerType
        self.offerIdentifier = offerIdentifier
        self.offerDiscountType = offerDiscountType
        self.offerPeriod = offerPeriod
        self.transactionReason = transactionReason
        self.additionalTransactionReason = additionalTransactionReason
        self.storefront = storefront
        self.storefrontId = storefrontId
        self.price = price
        self.currency = currency
        self.appTransactionId = appTransactionId
        self.billingPlanType = billingPlanType
        self.appAppleId = appAppleId
        self.json = json
    }
}
