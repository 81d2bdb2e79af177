@testable public import Simulation

/// What must be true at an instant of a story, told by hand: never worked out by the rules that it is there to test.
///
/// It holds when exactly those notifications of the story are known whose outer signed date is not later than ``instant``.
public struct StoryExpectation: Sendable, Hashable {
    /// The status of a subscription; the raw values are those of the view `subscription_status`.
    public enum Status: String, Sendable, Hashable, CaseIterable {
        /// In a free trial.
        case trial
        /// Paid for, and will renew.
        case active
        /// Paid for, auto-renew off.
        case cancelled
        /// Not paid, with access for now.
        case gracePeriod = "grace_period"
        /// Not paid, without access, Apple is trying.
        case billingRetry = "billing_retry"
        /// Over.
        case expired
        /// Taken back.
        case revoked

        /// Whether the customer may use what was bought.
        public var access: Bool {
            switch self {
            case .trial, .active, .cancelled, .gracePeriod: true
            case .billingRetry, .expired, .revoked: false
            }
        }

        /// What Apple calls it: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
        public var appleStatus: Int {
            switch self {
            case .trial, .active, .cancelled: 1
            case .expired: 2
            case .billingRetry: 3
            case .gracePeriod: 4
            case .revoked: 5
            }
        }
    }

    /// Whose something is.
    public enum Account: Sendable, Hashable {
        /// Nothing is claimed about it.
        case anyone
        /// No record names an account.
        case nobody
        /// This account token.
        case token(String)
    }

    /// What is claimed about one subscription.
    public struct Subscription: Sendable, Hashable {
        /// Which one.
        public var originalTransactionId: String
        /// Its status.
        public var status: Status
        /// Whether auto-renew is on; nil where nothing is claimed, because it can be seen either way.
        public var willRenew: Bool?
        /// The product that the customer has, or had last.
        public var productId: String
        /// The product of the coming renewal; nil where nothing is claimed.
        public var renewalProductId: String?
        /// Whether the customer has a price increase to answer; nil where nothing is claimed.
        public var priceIncreasePending: Bool?
        /// Whose it is.
        public var account: Account

        /// Whether the customer may use it.
        public var access: Bool { status.access }
    }

    /// What is claimed about an account's right to a product, over all of the account's purchases.
    public struct Entitlement: Sendable, Hashable {
        /// Whose right.
        public var account: Account
        /// The product.
        public var productId: String
        /// `subscription`, `non_consumable` or `non_renewing`.
        public var kind: String
        /// Whether there is such a right.
        public var access: Bool
    }

    /// What is claimed.
    public enum Claim: Sendable, Hashable {
        /// About a subscription.
        case subscription(Subscription)
        /// About an account's right to a product.
        case entitlement(Entitlement)
        /// A consumable's transaction counts for the customer, or not.
        case consumable(transactionId: String, credited: Bool)
        /// The story has left neither a subscription nor a purchase in its app.
        case nothing
    }

    /// When it holds.
    public var instant: Milliseconds
    /// In which app and environment.
    public var app: SimulatedApp
    /// What holds.
    public var claim: Claim

    /// The claim about a subscription, where it is one.
    public var subscription: Subscription? {
        if case .subscription(let subscription) = claim { subscription } else { nil }
    }
}
