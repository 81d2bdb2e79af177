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
    /// The account that Apple signed into the deciding period, or into the nearest one before it.
    public var signedAccount: UniqueIdentifier?

    /// Memberwise.
    public init(
        startsAt: Timestamp, status: SubscriptionStatus, productID: String?, accessUntil: Timestamp?,
        inTrial: Bool = false, willRenew: Bool = false, signedAccount: UniqueIdentifier? = nil
    ) {
        self.startsAt = startsAt
        self.status = status
        self.productID = productID
        self.accessUntil = accessUntil
        self.inTrial = inTrial
        self.willRenew = willRenew
        self.signedAccount = signedAccount
    }

    /// A phase of a subscription.
    public init(_ phase: Phase) {
        self.init(
            startsAt: phase.startsAt, status: phase.value.status, productID: phase.value.productID,
            accessUntil: phase.value.accessUntil, inTrial: phase.value.inTrial,
            willRenew: phase.value.willRenew ?? false, signedAccount: phase.value.appAccountToken)
    }
}
