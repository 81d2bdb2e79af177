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
    /// The end of access:
    /// - With access: when all of it ends without a gap, as known then; nil where it has no end. While a renewal is waited
    ///   for, that is the end of the waiting.
    /// - Without access: when it ended; nil where there never was any.
    public var expiresAt: Timestamp?
    /// Whether anything that gives access is going to renew.
    public var willRenew: Bool
    /// Whether the deciding source is a trial, Apple's or the app's own, to be renewed or not.
    public var inTrial: Bool
    /// The ends of parts of it, as known then; nil without access.
    public var ends: Ends?
    /// Whether access goes on by itself: something renews, and its charge has not failed.
    public var goesOn: Bool

    /// The ends of parts of an account's access; each is nil where there is no end.
    public struct Ends: Sendable, Hashable {
        /// Of what the deciding source gives.
        public var source: Timestamp?
        /// Of the present tier.
        public var tier: Timestamp?
        /// Of the running period of the deciding source.
        public var period: Timestamp?

        /// Memberwise.
        public init(source: Timestamp?, tier: Timestamp?, period: Timestamp?) {
            self.source = source
            self.tier = tier
            self.period = period
        }
    }

    /// Memberwise. By default all ends are that of access, and access goes on where it renews and is not in grace.
    public init(
        startsAt: Timestamp, status: AccountStatus, tier: String, source: AccountSource, productID: String? = nil,
        purchase: PurchaseKey? = nil, act: Int64? = nil, expiresAt: Timestamp? = nil, willRenew: Bool = false,
        inTrial: Bool = false, ends: Ends? = nil, goesOn: Bool? = nil
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
        self.ends = status.access ? ends ?? Ends(source: expiresAt, tier: expiresAt, period: expiresAt) : nil
        self.goesOn = goesOn ?? false
        if goesOn == nil { self.goesOn = goesOnByDefault }
    }

    /// Whether access would go on by itself if the deciding source were the only one.
    package var goesOnByDefault: Bool { access && willRenew && status != .gracePeriod }

    /// Whether the account has what its tier gives.
    public var access: Bool { status.access }
    /// When the present tier becomes another one; nil without access, and where it does not.
    public var tierUntil: Timestamp? { ends?.tier }
    /// When the running period ends; nil without access, and where there is no end.
    public var periodEndsAt: Timestamp? { ends?.period }

    /// Whether the two differ in nothing but the beginning.
    package func continues(_ other: AccountPhase) -> Bool {
        var moved = self
        moved.startsAt = other.startsAt
        return moved == other
    }
}
