public import Foundation

extension SubscriptionManager {
    /// Whether the account has access, and why.
    public struct Access: Sendable, Equatable {
        /// What access is decided by.
        public enum Basis: String, Sendable {
            /// What the store holds for the customer.
            case store
            /// The server's answer.
            case server
            /// The server's last answer, because it cannot be asked now.
            case cache
            /// Nothing gives access.
            case none
        }

        /// Whether it has access to more than the first tier.
        public var allowed: Bool
        /// Its tier by the catalog; nil is the first one, or one that is not known yet.
        public var tier: String?
        /// When access ends by what is known, without any grace; nil where it never does, or where there is none.
        public var until: Date?
        /// What it was decided by.
        public var basis: Basis

        /// What is decided about an account; nothing by default.
        public init(allowed: Bool = false, tier: String? = nil, until: Date? = nil, basis: Basis = .none) {
            self.allowed = allowed
            self.tier = tier
            self.until = until
            self.basis = basis
        }
    }

    /// What the manager knows at one moment.
    public struct State: Sendable, Equatable {
        /// The account that is signed in; nil while none is.
        public var accountID: String?
        /// Whether it has access now.
        public var access = Access()
        /// The account's status, as the server stated it last; nil before that. A word that this release does not know is kept.
        public var status: AccountStatus?
        /// The same for people, in the language asked for.
        public var displayStatus: String?
        /// When all access ends, or ended, by the server's last answer; nil where it never does.
        public var expiresAt: Date?
        /// When access ends by the server's last answer; nil where there is none, or it never does.
        public var accessUntil: Date?
        /// Whether anything that gives access renews itself; nil where that is not known.
        public var willRenew: Bool?
        /// Whether the account is in one of the store's free trials.
        public var isTrialPeriod = false
        /// What kind of purchase it is.
        public var purchaseType = PurchaseType.none
        /// How long that lasts each time, by the catalog; nil where it is not known.
        public var period: String?
        /// The store's number of the transaction; nil where nothing was bought.
        public var transactionID: String?
        /// What the store sells of the catalog, in the catalog's order; empty before ``SubscriptionManager/loadProducts()``.
        public var products: [StoreProduct] = []
        /// The store's ids of the products that give access now.
        public var purchasedProductIDs: Set<String> = []
        /// Whether anything is being read, bought or restored.
        public var isLoading = false
        /// What went wrong last; nil where the last act succeeded.
        public var error: ClientError?
        /// Whether the store and the server were asked once since the account signed in, whatever they answered.
        public var hasCompletedInitialScan = false
        /// Whether access ends soon, and does not go on by itself.
        public var isExpiringSoon = false
        /// When the server last answered about the account; nil before that.
        public var readAt: Date?

        /// Nothing is known.
        public init() {}

        /// Whether the account has access.
        public var isSubscribed: Bool { access.allowed }
    }
}

extension SubscriptionManager.Access {
    /// The tier that gates and use are decided by: nil is the first one. Access whose tier is not known yet counts as the highest, so that
    /// a customer who has paid is not locked out: an id that no catalog has stands for it.
    var countedTier: String? { allowed ? tier ?? "" : nil }
}
