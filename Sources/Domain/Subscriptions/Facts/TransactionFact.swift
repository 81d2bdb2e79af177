public import AppStorePayloads
public import Base

/// One signed transaction, reduced to what state is derived from.
public struct TransactionFact: SignedFact, FamilySharable, Hashable {
    /// New for every renewal and every restore.
    public var transactionID: String
    /// One per paid period, equal on every device: the key for periods and for money.
    public var webOrderLineItemID: String?
    /// The product bought.
    public var productID: String?
    /// The subscription group, for auto-renewables.
    public var subscriptionGroupID: String?
    /// What kind of thing was bought; nil where Apple does not say: verifyReceipt does not for one-time purchases.
    public var kind: ProductType?
    /// `PURCHASED` or `FAMILY_SHARED`, as Apple spells it.
    public var ownership: String?
    /// The period's first instant.
    public var purchasedAt: Timestamp?
    /// The period's end; nil for what does not expire.
    public var expiresAt: Timestamp?
    /// When a refund or a loss of family sharing took effect.
    public var revokedAt: Timestamp?
    /// Whether Apple says that an upgrade replaced this period.
    public var isUpgraded: Bool
    /// Why there is a transaction.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The customer bought. The raw value is Apple's.
        case purchase = "PURCHASE"
        /// Apple renewed. The raw value is Apple's.
        case renewal = "RENEWAL"
        /// Apple does not say, or in a word that is not known: it decides nothing.
        case unknown = ""
    }

    /// Why there is a transaction.
    public var reason: Reason
    /// Whether the period was renewed, by Apple's word.
    public var isRenewal: Bool { reason == .renewal }
    /// Why the transaction stands beside others of its period, in Apple's word (`additionalTransactionReason`), known or
    /// not; nil where Apple gives no such reason.
    public var additionalReason: String?
    /// Whether the period is the introductory free trial. Other free periods are paid ones that cost nothing.
    public var isFreeTrial: Bool
    /// How many were bought; nil where Apple does not say, which means one.
    public var quantity: Int64?
    /// How much of a refunded purchase was taken back, in thousandths of a percent: 100000 is all of it, and so is nil.
    public var revocationPercentage: Int64?
    /// Why Apple refunded; nil where it did not, or does not say.
    public var revocationReason: RevocationReason?
    /// How Apple took it back; nil where it did not, or does not say.
    public var revocationType: RevocationType?
    /// When the first transaction of the purchase was made. Of a non-consumable it and ``price`` distinguish a purchase from a copy.
    public var originalPurchasedAt: Timestamp?
    /// What was paid, in thousandths of ``currency``; nil where Apple does not say.
    public var price: Int64?
    /// The currency, ISO 4217.
    public var currency: String?
    /// The country of the App Store, ISO 3166-1 alpha-3.
    public var storefront: String?
    /// The length of an offer that is paid up front, an ISO 8601 duration (`offerPeriod`); nil for any other.
    public var upFrontPeriod: String?
    /// How it is billed, in Apple's word (`billingPlanType`), known or not; nil where Apple does not say.
    public var billingPlan: String?
    /// The account that the app bound to the purchase.
    public var appAccountToken: UniqueIdentifier?
    /// When Apple signed the record.
    public var signedAt: Timestamp
    /// From when on it counts where it has no date of its own for that: `signedAt`, or the date of the notification that
    /// brought it if that is earlier. See ``ReportedStatus/asOf``.
    public var asOf: Timestamp
    /// SHA-256 of its JSON bytes.
    public var digest: [UInt8]
    /// Whether the record carries no signature.
    public var isUnsigned: Bool

    /// Memberwise.
    public init(
        transactionID: String, webOrderLineItemID: String? = nil, productID: String? = nil,
        subscriptionGroupID: String? = nil, kind: ProductType? = .autoRenewableSubscription, ownership: String? = nil,
        purchasedAt: Timestamp? = nil, expiresAt: Timestamp? = nil, revokedAt: Timestamp? = nil,
        isUpgraded: Bool = false, reason: Reason = .purchase, additionalReason: String? = nil,
        isFreeTrial: Bool = false, quantity: Int64? = nil, revocationPercentage: Int64? = nil,
        revocationReason: RevocationReason? = nil, revocationType: RevocationType? = nil,
        appAccountToken: UniqueIdentifier? = nil, originalPurchasedAt: Timestamp? = nil, price: Int64? = nil,
        currency: String? = nil, storefront: String? = nil, upFrontPeriod: String? = nil, billingPlan: String? = nil,
        signedAt: Timestamp, asOf: Timestamp? = nil, digest: [UInt8], isUnsigned: Bool = false
    ) {
        self.transactionID = transactionID
        self.webOrderLineItemID = webOrderLineItemID
        self.productID = productID
        self.subscriptionGroupID = subscriptionGroupID
        self.kind = kind
        self.ownership = ownership
        self.purchasedAt = purchasedAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.isUpgraded = isUpgraded
        self.reason = reason
        self.additionalReason = additionalReason
        self.isFreeTrial = isFreeTrial
        self.quantity = quantity
        self.revocationPercentage = revocationPercentage
        self.revocationReason = revocationReason
        self.revocationType = revocationType
        self.appAccountToken = appAccountToken
        self.originalPurchasedAt = originalPurchasedAt
        self.price = price
        self.currency = currency
        self.storefront = storefront
        (self.upFrontPeriod, self.billingPlan) = (upFrontPeriod, billingPlan)
        self.signedAt = signedAt
        self.asOf = asOf ?? signedAt
        self.digest = digest
        self.isUnsigned = isUnsigned
    }

    /// The earliest instant that it may affect. A period counts up to a day ahead of its start, once it is charged.
    public var since: Timestamp {
        let early = purchasedAt?.adding(days: -StatusPolicy.renewsEarlyDays)
        return [asOf, early, revokedAt].compactMap(\.self).min() ?? asOf
    }

    /// The fact in a verified transaction.
    /// - Parameters:
    ///   - payload: what Apple signed.
    ///   - digest: SHA-256 of its JSON bytes.
    ///   - asOf: when the notification that brought it was signed; nil for a record that came by itself.
    ///   - isUnsigned: whether the record carries no signature.
    public init(_ payload: TransactionPayload, digest: [UInt8], asOf: Timestamp? = nil, isUnsigned: Bool = false) {
        self.init(
            transactionID: payload.transactionId,
            webOrderLineItemID: payload.webOrderLineItemId,
            productID: payload.productId,
            subscriptionGroupID: payload.subscriptionGroupIdentifier,
            kind: payload.type,
            ownership: payload.inAppOwnershipType?.rawValue,
            purchasedAt: payload.purchaseDate,
            expiresAt: payload.expiresDate,
            revokedAt: payload.revocationDate,
            isUpgraded: payload.isUpgraded ?? false,
            reason: payload.transactionReason.flatMap { Reason(rawValue: $0.rawValue) } ?? .unknown,
            additionalReason: payload.additionalTransactionReason,
            isFreeTrial: payload.offerType == .introductory && payload.offerDiscountType == .freeTrial,
            quantity: payload.quantity,
            revocationPercentage: payload.revocationPercentage,
            revocationReason: payload.revocationDate == nil ? nil : payload.revocationReason,
            revocationType: payload.revocationDate == nil ? nil : payload.revocationType,
            appAccountToken: payload.appAccountToken,
            originalPurchasedAt: payload.originalPurchaseDate,
            price: payload.price,
            currency: payload.currency,
            storefront: payload.storefront,
            upFrontPeriod: payload.offerDiscountType == .payUpFront ? payload.offerPeriod : nil,
            billingPlan: payload.billingPlanType,
            signedAt: payload.signedDate,
            asOf: asOf.map { min($0, payload.signedDate) },
            digest: digest,
            isUnsigned: isUnsigned
        )
    }

    /// Whether it may be a purchase made after a refund, by the dates that it gives: bought, signed and, as far as it
    /// says that, first bought after it.
    func isDated(after refund: Timestamp) -> Bool {
        refund < signedAt && purchasedAt.map { refund < $0 } ?? false && originalPurchasedAt.map { refund < $0 } ?? true
    }
}

extension TransactionFact {
    /// Whether it is of a non-consumable and says a price, as copies of a purchase may not.
    var isPricedNonConsumable: Bool { kind == .nonConsumable && price != nil }

    /// What it says, without when it was signed, where it was sold, for how long it was billed and why and how it was refunded. Of its reason only whether it is a
    /// renewal, and what was paid of a non-consumable alone: rows of earlier programs say no more.
    var saying: TransactionFact {
        var saying = self
        (saying.reason, saying.additionalReason) = (isRenewal ? .renewal : .unknown, nil)
        (saying.revocationReason, saying.revocationType) = (nil, nil)
        (saying.currency, saying.storefront, saying.upFrontPeriod, saying.billingPlan) = (nil, nil, nil, nil)
        if kind != .nonConsumable { (saying.price, saying.originalPurchasedAt) = (nil, nil) }
        (saying.signedAt, saying.asOf, saying.digest, saying.isUnsigned) = (.distantPast, .distantPast, [], false)
        return saying
    }
}
