import AppStorePayloads
public import Base

/// Something bought once: a non-consumable, a consumable, or a term that does not renew by itself.
///
/// A restored copy has a transactionId of its own under the same originalTransactionId: it is the same purchase, and a
/// refund of one ends it.
public struct OneTimePurchase: Sendable, Hashable {
    /// What was bought; the raw values are those of the view `entitlements`.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Owned while it is not revoked.
        case nonConsumable = "non_consumable"
        /// A term whose length only the app knows.
        case nonRenewing = "non_renewing"
        /// Credited once, and used up.
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

    /// What was bought.
    public let kind: Kind
    /// The product.
    public let productID: String?
    /// `PURCHASED`, `FAMILY_SHARED`, …, as Apple spells it.
    public let ownership: String?
    /// The account that the app bound to the purchase.
    public let appAccountToken: UniqueIdentifier?
    /// The transaction of the latest-signed record.
    public let transactionID: String
    /// When it was bought first.
    public let purchasedAt: Timestamp
    /// Its end, where Apple names one.
    public let expiresAt: Timestamp?
    /// When it was refunded, or family sharing ended; nil while it stands.
    public let revokedAt: Timestamp?
    /// How many were bought.
    public let quantity: Int64
    /// How much of it was taken back, in thousandths of a percent: 0 while it stands, 100000 for all.
    public let revokedShare: Int64

    /// Memberwise.
    public init(
        kind: Kind, productID: String?, ownership: String?, appAccountToken: UniqueIdentifier?, transactionID: String,
        purchasedAt: Timestamp, expiresAt: Timestamp?, revokedAt: Timestamp?, quantity: Int64, revokedShare: Int64
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
    }

    /// Derives the purchase; nil where the facts are not about a one-time purchase.
    public init?(_ facts: PurchaseFacts) {
        var latest: [String: TransactionFact] = [:]
        for fact in facts.transactions where Kind(fact) != nil && fact.purchasedAt != nil {
            latest[fact.transactionID] = fact
        }
        let copies = latest.values.sorted {
            ($0.signedAt, $0.transactionID) < ($1.signedAt, $1.transactionID)
        }
        guard let record = copies.last, let kind = Kind(record),
            let purchasedAt = copies.compactMap(\.purchasedAt).min()
        else { return nil }
        let revoked = copies.filter { $0.revokedAt != nil }
        self.kind = kind
        self.purchasedAt = purchasedAt
        productID = record.productID
        ownership = record.ownership
        appAccountToken = copies.last { $0.appAccountToken != nil }?.appAccountToken
        transactionID = record.transactionID
        expiresAt = copies.compactMap(\.expiresAt).max()
        revokedAt = revoked.compactMap(\.revokedAt).min()
        quantity = record.quantity ?? 1
        revokedShare = revoked.map { $0.revocationPercentage ?? Self.whole }.max() ?? 0
    }

    /// Derives it from the facts that count: unsigned records give way to signed ones.
    public init?(counting facts: PurchaseFacts) { self.init(facts.counting) }

    /// 100 % in thousandths of a percent.
    public static let whole: Int64 = 100_000
}
