package import Accounts
import AppStorePayloads
package import Base

/// A purchase of an account at one instant, as answers tell of it.
package struct SubscriptionPicture: Sendable, Hashable {
    /// What was bought.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// It renews itself.
        case subscription
        /// Once and for all.
        case lifetime
        /// For a time, without renewing itself.
        case term
    }

    /// Apple's id of the product.
    package var productID: String
    /// The app.
    package var bundleID: String
    /// Apple's number of the purchase.
    package var originalTransactionID: String
    /// Where it was made, in Apple's word.
    package var environment: String
    /// What was bought.
    package var kind: Kind
    /// In the words of account statuses.
    package var status: AccountStatus
    /// Whether it gives access.
    package var access: Bool
    /// When its access ends or ended; nil where it never does.
    package var expiresAt: Timestamp?
    /// Whether it renews itself then, as far as is known.
    package var willRenew: Bool
    /// What it would renew as; nil where that is not known.
    package var renewalProductID: String?
    /// Whether the period is one of Apple's free trials.
    package var isTrialPeriod: Bool
    /// When it was bought first.
    package var purchaseDate: Timestamp?
    /// Since when it does not renew itself any more; nil while it does.
    package var cancelledAt: Timestamp?
    /// When Apple's free trial began; nil where there was none.
    package var trialStartedAt: Timestamp?
    /// When Apple's free trial ends or ended.
    package var trialEndsAt: Timestamp?
    /// Whether somebody of the family bought it.
    package var isFamilyShared: Bool

    /// A purchase.
    package init(
        productID: String, bundleID: String, originalTransactionID: String, environment: String,
        kind: Kind = .subscription, status: AccountStatus, access: Bool, expiresAt: Timestamp? = nil,
        willRenew: Bool = false, renewalProductID: String? = nil, isTrialPeriod: Bool = false,
        purchaseDate: Timestamp? = nil, cancelledAt: Timestamp? = nil, trialStartedAt: Timestamp? = nil,
        trialEndsAt: Timestamp? = nil, isFamilyShared: Bool = false
    ) {
        self.productID = productID
        self.bundleID = bundleID
        self.originalTransactionID = originalTransactionID
        self.environment = environment
        self.kind = kind
        self.status = status
        self.access = access
        self.expiresAt = expiresAt
        self.willRenew = willRenew
        self.renewalProductID = renewalProductID
        self.isTrialPeriod = isTrialPeriod
        self.purchaseDate = purchaseDate
        self.cancelledAt = cancelledAt
        self.trialStartedAt = trialStartedAt
        self.trialEndsAt = trialEndsAt
        self.isFamilyShared = isFamilyShared
    }
}
