public import AppStorePayloads
public import Base

/// Something bought once: a non-consumable, a consumable, or a term that does not renew by itself.
///
/// A restored copy has a transactionId of its own under the same originalTransactionId: it is the same purchase, a refund
/// of one ends it, and the reversal of one gives it back. ``Sale`` states how often it was paid for.
public struct OneTimePurchase: FamilySharable, Sendable, Hashable {
    /// What was bought; the raw values are those of the view `entitlements`.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Owned while it is not revoked.
        case nonConsumable = "non_consumable"
        /// A term whose length only the app knows.
        case nonRenewing = "non_renewing"
        /// Credited once a transaction, and used up.
        case consumable

        /// The kind that a record states; nil where it is not a one-time purchase. Unsigned records do not state which
        /// of the three it is. They count as non-renewing, whose term only the app knows: a wrong guess of another
        /// kind would end a customer's access.
        init?(_ fact: TransactionFact) {
            switch fact.kind {
            case .nonConsumable: self = .nonConsumable
            case .nonRenewingSubscription: self = .nonRenewing
            case .consumable: self = .consumable
            // Line items and groups are subscriptions'.
            case nil where fact.isUnsigned && fact.webOrderLineItemID == nil && fact.subscriptionGroupID == nil:
                self = .nonRenewing
            default: return nil
            }
        }
    }

    /// A stretch of time in which the purchase was not held: from a refund to its reversal, or until it was bought again.
    public struct Gap: Sendable, Hashable {
        /// The refund's instant.
        public var from: Timestamp
        /// The first instant at which it is held again.
        public var until: Timestamp
        /// Whether it was bought again then.
        public var isBoughtAgain: Bool

        /// Memberwise.
        public init(from: Timestamp, until: Timestamp, isBoughtAgain: Bool = false) {
            self.from = from
            self.until = until
            self.isBoughtAgain = isBoughtAgain
        }
    }

    /// An account that was signed into the purchase until another one was.
    public struct EarlierAccount: Sendable, Hashable {
        /// The account.
        public var account: UniqueIdentifier
        /// When the record with the next one was signed.
        public var until: Timestamp

        /// Memberwise.
        public init(_ account: UniqueIdentifier, until: Timestamp) {
            self.account = account
            self.until = until
        }
    }

    /// What was bought.
    public let kind: Kind
    /// The product.
    public let productID: String?
    /// `PURCHASED`, `FAMILY_SHARED`, …, as Apple spells it.
    public let ownership: String?
    /// The account that the app bound to the purchase.
    public let appAccountToken: UniqueIdentifier?
    /// The accounts that it was bound to before, in order: the first one from the beginning, each later one from the signing of
    /// the record that names it.
    public let earlierAccounts: [EarlierAccount]
    /// The transaction of the latest-signed record.
    public let transactionID: String
    /// When it was bought first.
    public let purchasedAt: Timestamp
    /// Its end, where Apple names one.
    public let expiresAt: Timestamp?
    /// When it was refunded for good, or family sharing ended; nil while it stands. Of consumables, the first refund.
    public let revokedAt: Timestamp?
    /// How many were bought; of consumables in all of its sales.
    public let quantity: Int64
    /// How much of it was taken back, in thousandths of a percent, rounded down: 0 while it stands, 100000 for all.
    public let revokedShare: Int64
    /// Why Apple refunded, where it is ``revokedAt``; nil where Apple does not say.
    public let revokedReason: RevocationReason?
    /// When it was not held in between, in order.
    public let gaps: [Gap]
    /// What was paid for, in the order of purchase; never empty where it was derived from facts.
    public let sales: [Sale]

    /// Memberwise.
    public init(
        kind: Kind, productID: String?, ownership: String?, appAccountToken: UniqueIdentifier?, transactionID: String,
        purchasedAt: Timestamp, expiresAt: Timestamp?, revokedAt: Timestamp?, quantity: Int64, revokedShare: Int64,
        revokedReason: RevocationReason? = nil, gaps: [Gap] = [], sales: [Sale] = [],
        earlierAccounts: [EarlierAccount] = []
    ) {
        self.kind = kind
        self.productID = productID
        self.ownership = ownership
        self.appAccountToken = appAccountToken
        self.transactionID = transactionID
        self.purchasedAt = purchasedAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.quantity = quantity
        self.revokedShare = revokedShare
        self.revokedReason = revokedReason
        self.gaps = gaps
        self.sales = sales
        self.earlierAccounts = earlierAccounts
    }

    /// Derives the purchase; nil where the facts are not about a one-time purchase.
    public init?(_ facts: PurchaseFacts) {
        guard let bought = BoughtTransactions(facts) else { return nil }
        self.init(bought)
    }

    init(_ bought: BoughtTransactions) {
        let (record, kind, groups) = (bought.record, bought.kind, bought.groups)
        let sales = groups.map(\.sale).sorted {
            ($0.purchasedAt, $0.transactionID) < ($1.purchasedAt, $1.transactionID)
        }
        self.kind = kind
        self.sales = sales
        purchasedAt = bought.all[0].purchasedAt
        productID = record.productID
        ownership = record.ownership
        appAccountToken = bought.account
        earlierAccounts = bought.earlierAccounts
        transactionID = record.transactionID
        expiresAt = bought.expiresAt
        if kind == .consumable {
            gaps = []
            revokedAt = sales.compactMap(\.revokedAt).min()
            quantity = sales.reduce(0) { $0 + $1.quantity }
            revokedShare = quantity == 0 ? 0 : sales.takenBack / quantity
        } else {
            let held = HeldStretches(groups)
            (gaps, revokedAt) = (held.gaps, held.end)
            quantity = record.quantity ?? 1
            revokedShare = held.end == nil ? 0 : sales.map(\.revokedShare).max() ?? 0
        }
        revokedReason = revokedAt.flatMap { sales.reason(ofRefundAt: $0) }
    }

    /// Derives it from the facts that count: unsigned records give way to signed ones.
    public init?(counting facts: PurchaseFacts) { self.init(facts.counting) }

    /// Whether it is not held at an instant at which it was bought already: refunded for good by then, or for a while.
    public func isRevoked(at instant: Timestamp) -> Bool { revocation(at: instant) != nil }

    /// The refund by which it is not held at an instant; nil where it is.
    public func revocation(at instant: Timestamp) -> Timestamp? {
        gaps.first { $0.from <= instant && instant < $0.until }?.from ?? revokedAt.flatMap { $0 <= instant ? $0 : nil }
    }

    /// How much of its consumables was taken back, in 1/100,000 of a unit: exact, also where a share of an odd number was.
    public var takenBack: Int64 { sales.takenBack }

    /// 100 % in thousandths of a percent.
    public static let whole: Int64 = 100_000
}
