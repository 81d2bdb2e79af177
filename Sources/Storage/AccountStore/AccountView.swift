package import Accounts
import AppStorePayloads
package import Base
package import Subscriptions

/// All that an answer about an account needs: read at one instant, in one statement.
package struct AccountView: Sendable {
    /// A purchase that the account owns at that instant.
    package struct Line: Sendable {
        /// The purchase.
        package var key: PurchaseKey
        /// The kind of a one-time purchase; nil for a subscription.
        package var oneTime: OneTimePurchase.Kind?
        /// Whether it lasts for ever: by Apple's record, or, where that gives no term, by the catalog.
        package var isForLife: Bool {
            oneTime == .nonConsumable || (oneTime == .nonRenewing && expiresAt == nil)
        }
        /// Apple's id of the product, at that instant.
        package var productID: String?
        /// Its status.
        package var status: SubscriptionStatus
        /// Whether it gives the account access, by the catalog and all acts of staff.
        package var givesAccess: Bool
        /// When its access ends, grace included, as known at that instant, or when it ended; nil where it has no end.
        package var expiresAt: Timestamp?
        /// Whether it is going to renew.
        package var willRenew: Bool
        /// Whether it is in Apple's introductory free trial.
        package var inTrial: Bool
        /// Since when it is cancelled, where it is; or when it was refunded.
        package var cancelledAt: Timestamp?
        /// When Apple's trial began and ends or ended, where it has one.
        package var trialStartedAt: Timestamp?
        /// See ``trialStartedAt``.
        package var trialEndsAt: Timestamp?
        /// The deciding transaction.
        package var transactionID: String?
        /// When the deciding period was bought.
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
    /// The environment of the question.
    package var environment: String
    /// The database's clock: the instant of this view.
    package var now: Timestamp
    /// The catalog; nil where none was ever applied.
    package var catalog: Catalog?
    /// Its number.
    package var catalogVersion: Int64?
    /// Grows with every change of the phases; 0 where the account is unknown.
    package var version: Int64
    /// Its status as a function of time.
    package var state: AccountState
    /// Its purchases: the deciding one first, then by their end, the latest first.
    package var lines: [Line]
    /// The app's own trial, if it has had it.
    package var trial: StartedTrial?

    /// Its status now.
    package var current: AccountPhase { state.value(at: now) }
    /// When it loses access, as known now; nil where it has none, or access without an end.
    package var accessUntil: Timestamp? { state.accessUntil(at: now) }
    /// The deciding purchase, where there is one.
    package var line: Line? { lines.first { $0.key == current.purchase } }
}
