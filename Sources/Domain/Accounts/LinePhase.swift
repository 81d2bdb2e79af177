import AppStorePayloads
public import Base
public import Subscriptions

/// A phase of a purchase, as far as an account's status depends on it.
public struct LinePhase: Sendable, Hashable {
    /// The first instant; the next phase's is the end.
    public var startsAt: Timestamp
    /// The purchase's status.
    public var status: SubscriptionStatus
    /// Apple's id of the product.
    public var productID: String?
    /// Until when it gives access, as known then, or gave; nil where it has no end.
    public var accessUntil: Timestamp?
    /// Whether it is Apple's introductory free trial.
    public var inTrial: Bool
    /// Whether it is going to renew.
    public var willRenew: Bool
    /// The account that Apple signed into the deciding period, or into the nearest one before it in its stretch.
    public var signedAccount: UniqueIdentifier?
    /// The account that only renewal info names, where no period of the line names one: it speaks of the upcoming
    /// renewal.
    public var upcomingAccount: UniqueIdentifier?
    /// When the period itself ends; nil where it has no end.
    public var periodEndsAt: Timestamp?
    /// When the customer last bought on the line; nil for its first purchase.
    public var boughtAt: Timestamp?
    /// When Apple charged for a renewal to another product, where that was before it began.
    public var chargedAt: Timestamp?
    /// What the latest renewal info says that it renews to.
    public var namedProductID: String?
    /// See ``/Subscriptions/PhaseOrigin/waitsUntil``.
    public var waitsUntil: Timestamp?
    /// See ``/Subscriptions/PhaseOrigin/replacedRenewal``.
    public var replacedRenewal: PhaseOrigin.Renewal?

    /// Memberwise. By default the period lasts as long as access.
    public init(
        startsAt: Timestamp, status: SubscriptionStatus, productID: String?, accessUntil: Timestamp?,
        inTrial: Bool = false, willRenew: Bool = false, signedAccount: UniqueIdentifier? = nil,
        upcomingAccount: UniqueIdentifier? = nil, periodEndsAt: Timestamp? = nil, boughtAt: Timestamp? = nil,
        chargedAt: Timestamp? = nil, namedProductID: String? = nil, waitsUntil: Timestamp? = nil,
        replacedRenewal: PhaseOrigin.Renewal? = nil
    ) {
        self.startsAt = startsAt
        self.status = status
        self.productID = productID
        self.accessUntil = accessUntil
        self.inTrial = inTrial
        self.willRenew = willRenew
        self.signedAccount = signedAccount
        self.upcomingAccount = upcomingAccount
        self.periodEndsAt = periodEndsAt ?? accessUntil
        self.boughtAt = boughtAt
        self.chargedAt = chargedAt
        self.namedProductID = namedProductID
        self.waitsUntil = waitsUntil
        self.replacedRenewal = replacedRenewal
    }

    /// A phase of a subscription.
    public init(_ phase: Phase) {
        let (value, origin) = (phase.value, phase.origin)
        self.init(
            startsAt: phase.startsAt, status: value.status, productID: value.productID, accessUntil: value.accessUntil,
            inTrial: value.inTrial, willRenew: value.willRenew ?? false, account: value.appAccountToken,
            periodEndsAt: value.periodEndsAt, renewalProductID: value.renewalProductID, origin: origin)
    }

    /// A phase of a subscription, as it is stored.
    package init(
        startsAt: Timestamp, status: SubscriptionStatus, productID: String?, accessUntil: Timestamp, inTrial: Bool,
        willRenew: Bool, account: UniqueIdentifier?, periodEndsAt: Timestamp, renewalProductID: String?,
        origin: PhaseOrigin
    ) {
        let signed = SignedAccounts(account, by: origin)
        self.init(
            startsAt: startsAt, status: status, productID: productID, accessUntil: accessUntil, inTrial: inTrial,
            willRenew: willRenew, signedAccount: signed.account, upcomingAccount: signed.upcoming,
            periodEndsAt: periodEndsAt, boughtAt: origin.boughtAt, chargedAt: origin.chargedAt,
            namedProductID: origin.namedProductID ?? renewalProductID, waitsUntil: origin.waitsUntil,
            replacedRenewal: origin.replacedRenewal)
    }
}
