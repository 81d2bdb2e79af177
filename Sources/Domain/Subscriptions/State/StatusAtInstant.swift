import AppStorePayloads
public import Base

/// What a subscription is at one instant, and what makes it so.
public struct StatusAtInstant: Sendable, Hashable {
    /// What a status rests on.
    public enum Basis: String, Sendable, Hashable, CaseIterable {
        /// A period that Apple signed.
        case records
        /// A period whose transaction never arrived; renewal info names its end.
        case renewalInfo = "renewal_info"
        /// Apple's reported status alone: no known record explains it.
        case reportedStatus = "reported_status"
    }

    /// The status.
    public var status: SubscriptionStatus
    /// What it rests on.
    public var basis: Basis
    /// The product of the deciding period.
    public var productID: String?
    /// The transaction of the deciding period; nil for a period whose transaction never arrived.
    public var transactionID: String?
    /// When the paid stretch ends, or ended: the next period of the same product is part of it once it is charged.
    public var expiresAt: Timestamp
    /// When the deciding period itself ends, or ended.
    public var periodEndsAt: Timestamp
    /// When grace ends; nil outside of it.
    public var graceEndsAt: Timestamp?
    /// Whether the deciding period is the introductory free trial, auto-renew on or off.
    public var inTrial: Bool
    /// Whether auto-renew is on; nil where Apple never said by then.
    public var willRenew: Bool?
    /// What the subscription renews to.
    public var renewalProductID: String?
    /// Whether the customer has yet to agree to a higher price.
    public var priceIncreasePending: Bool
    /// Why it ended, or will: 1 customer cancelled, 2 billing, 3 price increase not agreed, 4 product unavailable, 5 other.
    public var expirationIntent: Int?
    /// The account that the app bound to the deciding period.
    public var appAccountToken: UniqueIdentifier?

    /// Memberwise.
    public init(
        status: SubscriptionStatus, basis: Basis, productID: String? = nil, transactionID: String? = nil,
        expiresAt: Timestamp, periodEndsAt: Timestamp, graceEndsAt: Timestamp? = nil, inTrial: Bool = false,
        willRenew: Bool? = nil, renewalProductID: String? = nil, priceIncreasePending: Bool = false,
        expirationIntent: Int? = nil, appAccountToken: UniqueIdentifier? = nil
    ) {
        self.status = status
        self.basis = basis
        self.productID = productID
        self.transactionID = transactionID
        self.expiresAt = expiresAt
        self.periodEndsAt = periodEndsAt
        self.graceEndsAt = graceEndsAt
        self.inTrial = inTrial
        self.willRenew = willRenew
        self.renewalProductID = renewalProductID
        self.priceIncreasePending = priceIncreasePending
        self.expirationIntent = expirationIntent
        self.appAccountToken = appAccountToken
    }

    /// Until when the customer has access, grace included; without access, when what was paid for ended.
    public var accessUntil: Timestamp { graceEndsAt ?? expiresAt }

    /// The status from an instant on at which nothing known supports it any more: no purchase ever arrived, and Apple
    /// no longer reports what presupposes one.
    func ended(at instant: Timestamp) -> StatusAtInstant {
        var ended = self
        if status != .revoked { ended.status = .expired }
        ended.expiresAt = min(expiresAt, instant)
        ended.graceEndsAt = nil
        ended.inTrial = false
        ended.priceIncreasePending = false
        return ended
    }
}
