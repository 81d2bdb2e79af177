public import Foundation

/// What documents about apps call the manager's members.
extension SubscriptionManager {
    /// What the store sells of the catalog; empty before ``loadProducts()``.
    public var products: [StoreProduct] { sold.products }

    /// The catalog, as it was last read; nil before that.
    public var catalog: Catalog? { sold.catalog }

    /// The store's ids of the products that give access now.
    public var purchasedProductIDs: Set<String> { state.purchasedProductIDs }

    /// The same as ``purchasedProductIDs``.
    public var purchasedProductIds: Set<String> { state.purchasedProductIDs }

    /// Whether the account has access now.
    public var isSubscribed: Bool { state.access.allowed }

    /// Whether the account has access now.
    public var hasActiveSubscription: Bool { state.access.allowed }

    /// Whether the account has access now.
    public var hasValidSubscription: Bool { state.access.allowed }

    /// The account's tier by the catalog; nil is the first one.
    public var currentTier: String? { state.access.tier }

    /// Whether the account is in one of the store's free trials.
    public var isTrialPeriod: Bool { state.isTrialPeriod }

    /// What kind of purchase it is.
    public var purchaseType: PurchaseType { state.purchaseType }

    /// Whether anything is being read, bought or restored.
    public var isLoading: Bool { turn.busy > 0 }

    /// What went wrong last; nil where the last act succeeded.
    public var error: ClientError? { turn.error }

    /// Whether the store and the server were asked once since the account signed in.
    public var hasCompletedInitialScan: Bool { turn.hasCompletedInitialScan }

    /// When access ends, or ended, by what is known; nil where it never does, or nothing is known.
    public var subscriptionExpiryDate: Date? { state.access.until ?? state.expiresAt }

    /// Whether the account had access, and has none now.
    public var isSubscriptionExpired: Bool {
        guard !state.access.allowed, let answer = known?.answer else { return false }
        return answer.hasAccess || ["expired", "trial_expired", "revoked"].contains(answer.status)
    }

    /// Whether access ends within seven days, or within the catalog's days, and does not go on by itself.
    public var isSubscriptionExpiringSoon: Bool { state.isExpiringSoon }

    /// What the store says of a product; nil before ``loadProducts()``, and of what it does not sell.
    public func product(for productID: String) -> StoreProduct? { sold.products.first { $0.id == productID } }

    /// Whether a product gives access now.
    public func isPurchased(_ productID: String) -> Bool { state.purchasedProductIDs.contains(productID) }

    /// The same as ``refreshSubscriptionStatus()``.
    public func checkSubscriptionStatus() async { await refreshSubscriptionStatus() }

    /// What the app's log shows of the account after each scan: whether it has access, until when, and by which plan.
    public var statusBlock: String {
        let state = state
        let end = state.access.until ?? state.expiresAt
        return """
            📊 Subscription Status:
              Has Active Subscription: \(state.access.allowed)
              Expiry Date: \(end.map(\.description) ?? "none")
              Plan Type: \(state.period ?? state.purchaseType.rawValue)
            """
    }
}
