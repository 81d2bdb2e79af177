import AppStorePayloads
public import Base
public import Subscriptions

/// A stretch of time, up to the next phase, in which nothing about an account changes.
public struct AccountPhase: Sendable, Hashable {
    /// The first instant; ``/AppStorePayloads/Timestamp/distantPast`` where it has no beginning.
    public var startsAt: Timestamp
    /// The account's status.
    public var status: AccountStatus
    /// The tier that it has; the catalog's first where nothing gives access.
    public var tier: String
    /// The source of access; without access the last source.
    public var source: AccountSource
    /// Apple's id of the product, where a purchase decides.
    public var productID: String?
    /// The deciding purchase, if any.
    public var purchase: PurchaseKey?
    /// The act of staff that decides here: the grant, the change of tier, or the block.
    public var act: Int64?
    /// When the deciding source ends, as known then, or ended; nil where it has no end, or there never was one.
    public var expiresAt: Timestamp?
    /// Whether it is going to renew by itself.
    public var willRenew: Bool
    /// Whether it is a trial, Apple's or the app's own, to be renewed or not.
    public var inTrial: Bool

    /// Memberwise.
    public init(
        startsAt: Timestamp, status: AccountStatus, tier: String, source: AccountSource, productID: String? = nil,
        purchase: PurchaseKey? = nil, act: Int64? = nil, expiresAt: Timestamp? = nil, willRenew: Bool = false,
        inTrial: Bool = false
    ) {
        self.startsAt = startsAt
        self.status = status
        self.tier = tier
        self.source = source
        self.productID = productID
        self.purchase = purchase
        self.act = act
        self.expiresAt = expiresAt
        self.willRenew = willRenew
        self.inTrial = inTrial
    }

    /// Whether the account has what its tier gives.
    public var access: Bool { status.access }

    /// Whether the two differ in nothing but the beginning.
    func continues(_ other: AccountPhase) -> Bool {
        var moved = self
        moved.startsAt = other.startsAt
        return moved == other
    }
}
