import AppStorePayloads
package import Base
package import Subscriptions

/// A purchase at one instant. Each surface writes it under its own names (``SubscriptionShapes``).
///
/// A reader leaves nil what it does not read. `LedgerReader` reads a purchase by itself, without its account. `AccountStore` reads
/// the purchases of an account, without what only the records say.
package struct SubscriptionView: FamilySharable, Sendable, Hashable {
    /// The purchase.
    package var key: PurchaseKey
    /// The kind of a one-time purchase; nil for a subscription.
    package var oneTime: OneTimePurchase.Kind?
    /// Apple's id of the product, of the period that decides.
    package var productID: String?
    /// Nil before it began.
    package var status: SubscriptionStatus?
    /// When what is paid for in one stretch ends, or ended.
    package var expiresAt: Timestamp?
    /// The end of access, grace included, as known then, or when it ended; nil for what has no end.
    package var accessUntil: Timestamp?
    /// Whether it renews itself then; nil where Apple never said.
    package var willRenew: Bool?
    /// What it would renew as.
    package var renewalProductID: String?
    /// Whether the period is one of Apple's introductory free trials.
    package var inTrial = false

    // MARK: Only by the records

    /// The subscription group.
    package var subscriptionGroupID: String?
    /// The account that the app bound to the period.
    package var appAccountToken: UniqueIdentifier?
    /// Whether the customer has yet to agree to a higher price.
    package var priceIncreasePending = false
    /// When the period itself ends, or ended.
    package var periodEndsAt: Timestamp?
    /// When grace ends; nil outside of it.
    package var graceEndsAt: Timestamp?
    /// Why it ended, or will, 1 to 5.
    package var expirationIntent: Int?
    /// The basis of the status.
    package var basis = StatusAtInstant.Basis.records
    /// Since when the status holds.
    package var since: Timestamp?
    /// The transaction of the period; nil for a period whose transaction never arrived.
    package var transactionID: String?
    /// `PURCHASED`, `FAMILY_SHARED`, …, as Apple spells it.
    package var ownership: String?
    /// The offer of the period: 1 introductory, 2 promotional, 3 code, 4 win-back.
    package var offerType: Int?
    /// Which offer.
    package var offerID: String?
    /// What the period cost.
    package var price: Money?
    /// The country of the App Store it was bought in.
    package var storefront: String?
    /// The customer's own app transaction.
    package var appTransactionID: String?
    /// What the coming renewal will cost.
    package var renewalPrice: Money?
    /// When the period was bought.
    package var purchasedAt: Timestamp?
    /// When it was bought first, where Apple says so.
    package var originallyPurchasedAt: Timestamp?

    // MARK: For its account

    /// Whether it gives its account access, by the catalog and all acts of staff.
    package var givesAccess = false
    /// Since when it is cancelled, where it is, or was when it ended; or when it was taken back.
    package var cancelledAt: Timestamp?
    /// When its first evidence was stored; nil where an earlier release wrote the row, until it is rebuilt or heard of again.
    package var createdAt: Timestamp?
    /// When it changed last: when its latest evidence was stored, or when its present phase began.
    package var updatedAt: Timestamp?
    /// When Apple's trial began; nil where there was none.
    package var trialStartedAt: Timestamp?
    /// When Apple's trial ends or ended.
    package var trialEndsAt: Timestamp?
    /// Whether the last that it gave was a trial without a payment after it.
    package var hasEndedAsTrial = false
    /// The account that owns it; nil where it is free.
    package var owner: UniqueIdentifier?
    /// How it came to its owners.
    package var bindings: [PurchaseBinding] = []

    /// A purchase without anything else.
    package init(_ key: PurchaseKey) { self.key = key }

    // MARK: What follows from that

    /// Whether its own status gives access.
    package var access: Bool { status?.access ?? false }

    /// When it was bought first, as far as is known.
    package var purchaseDate: Timestamp? { originallyPurchasedAt ?? purchasedAt }

    /// How long it was bought for. Where the records do not say, the catalog's term decides.
    package var purchaseType: PurchaseType {
        switch oneTime {
        case nil: .subscription
        case .nonRenewing: accessUntil == nil ? .lifetime : .term
        case .nonConsumable, .consumable: .lifetime
        }
    }

    /// The status in the words of the account API.
    package var purchaseStatus: PurchaseStatus {
        switch status {
        case .trial: .trial
        case .active: .active
        case .cancelled: .cancelled
        case .gracePeriod: .gracePeriod
        case .billingRetry: .billingRetry
        case .revoked: .revoked
        case .expired, nil: hasEndedAsTrial ? .trialExpired : .expired
        }
    }

    /// For people: what the status rests on, if not on records.
    package var basisExplained: String? {
        switch basis {
        case .renewalInfo: "by renewal info alone: the period whose end it names was never heard of"
        case .reportedStatus: "by Apple's reported status alone: no record that is known explains it"
        case .records: nil
        }
    }
}

/// How long a purchase was made for.
package enum PurchaseType: String, Sendable, Hashable, CaseIterable, JSONConvertible {
    /// It renews itself.
    case subscription
    /// Once and for all.
    case lifetime
    /// For a time, without renewing itself.
    case term
}
