import AppStorePayloads
public import Base
public import Subscriptions

/// A stretch of time in which an account stays the same, up to the next phase.
public struct AccountPhase: Sendable, Hashable {
    /// The first instant; ``/AppStorePayloads/Timestamp/distantPast`` where it reaches back for ever.
    public var startsAt: Timestamp
    /// What the account is.
    public var status: AccountStatus
    /// The tier that it has; the catalog's first where nothing gives access.
    public var tier: String
    /// What gives access; without access what gave it last.
    public var source: AccountSource
    /// Apple's id of the product, where a purchase speaks.
    public var productID: String?
    /// The purchase that speaks, where one does.
    public var purchase: PurchaseKey?
    /// The act of staff's that shows here: the grant, the change of tier, or the block.
    public var act: Int64?
    /// When what speaks ends, as known then, or ended; nil for what has no end, and where nothing ever was.
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

    /// Whether all but the beginning is the same.
    func continues(_ other: AccountPhase) -> Bool {
        var moved = self
        moved.startsAt = other.startsAt
        return moved == other
    }
}
