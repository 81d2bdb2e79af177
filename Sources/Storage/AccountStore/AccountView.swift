package import Accounts
import AppStorePayloads
package import Base
package import Subscriptions

/// All that is needed to say what an account is: read at one instant, in one statement.
package struct AccountView: Sendable {
    /// A purchase that is the account's at that instant.
    package struct Line: Sendable {
        /// The purchase.
        package var key: PurchaseKey
        /// What was bought: nil for a subscription.
        package var oneTime: OneTimePurchase.Kind?
        /// Whether it was bought once and for all: by Apple's record, or, of one that does not say how long it lasts, by the catalog.
        package var isForLife: Bool {
            oneTime == .nonConsumable || (oneTime == .nonRenewing && expiresAt == nil)
        }
        /// Apple's id of the product, at that instant.
        package var productID: String?
        /// What it is.
        package var status: SubscriptionStatus
        /// Whether it gives the account access, by the catalog and with all that staff did.
        package var givesAccess: Bool
        /// The end of what it gives, grace included, as known then, or when it ended; nil for what has no end.
        package var expiresAt: Timestamp?
        /// Whether it is going to renew.
        package var willRenew: Bool
        /// Whether it is in Apple's introductory free trial.
        package var inTrial: Bool
        /// Since when it is cancelled, where it is; or when it was taken back.
        package var cancelledAt: Timestamp?
        /// When the trial of Apple's began and ends or ended, where one is at hand.
        package var trialStartedAt: Timestamp?
        /// See ``trialStartedAt``.
        package var trialEndsAt: Timestamp?
        /// The transaction that decides.
        package var transactionID: String?
        /// When what counts now was bought.
        package var purchasedAt: Timestamp?
        /// When it was bought first.
        package var originallyPurchasedAt: Timestamp?
        /// In milliunits of ``currency``, as Apple sent it.
        package var price: Int64?
        /// ISO 4217.
        package var currency: String?
        /// `PURCHASED`, `FAMILY_SHARED`, …, as Apple spells it.
        package var ownership: String?
        /// What Apple will renew it to.
        package var renewalProductID: String?
    }

    /// The account.
    package var token: UniqueIdentifier
    /// The environment that was asked about.
    package var environment: String
    /// The database's clock: the instant of which this is.
    package var now: Timestamp
    /// The catalog; nil where none was ever applied.
    package var catalog: Catalog?
    /// Its number.
    package var catalogVersion: Int64?
    /// Grows with every change of the phases; 0 where nothing was ever heard of the account.
    package var version: Int64
    /// What it is, as a function of time.
    package var state: AccountState
    /// Its purchases, the one that speaks first, then by their end, the latest first.
    package var lines: [Line]
    /// The app's own trial, if it has had it.
    package var trial: StartedTrial?

    /// What it is now.
    package var current: AccountPhase { state.value(at: now) }
    /// When it loses access, as known now; nil where it has none, or no end of it.
    package var accessUntil: Timestamp? { state.accessUntil(at: now) }
    /// The purchase that speaks, where one does.
    package var line: Line? { lines.first { $0.key == current.purchase } }
}
