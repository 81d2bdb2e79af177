import Foundation

/// A manager and a tracker, as the models ask them.
@MainActor
final class AccountPlan: PlanProvider {
    private let manager: SubscriptionManager
    private let tracker: UsageTracker

    init(_ manager: SubscriptionManager, _ tracker: UsageTracker) { (self.manager, self.tracker) = (manager, tracker) }

    var isLoading: Bool { manager.state.isLoading }
    var now: Date { manager.now }
    func use(of feature: String) -> UsageLine? { tracker.use(of: feature) }

    /// One element for each change of either.
    var changes: AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (ofManager, ofTracker) = (manager.states, tracker.states)
        let tasks = [
            Task { for await _ in ofManager { continuation.yield() } },
            Task { for await _ in ofTracker { continuation.yield() } },
        ]
        continuation.onTermination = { _ in for task in tasks { task.cancel() } }
        return stream
    }

    var facts: PlanFacts {
        let (state, access) = (manager.state, manager.state.access)
        return PlanFacts(
            status: state.status.map { PlanStatus($0) },
            displayStatus: access.basis == .store ? nil : state.displayStatus,
            tierName: access.allowed ? tierName(access) : nil, isAllowed: access.allowed,
            endsAt: access.allowed ? access.until : state.expiresAt,
            willRenew: state.willRenew, isOnce: state.purchaseType == .lifetime,
            transactionID: state.transactionID, isEndingSoon: state.isExpiringSoon,
            isFromCache: access.basis == .cache)
    }

    /// What customers call what gives access; of a tier that is not known yet, what the store calls the product.
    private func tierName(_ access: SubscriptionManager.Access) -> String? {
        if let tier = access.tier { return tracker.rules?.name(ofTier: tier) ?? tier }
        return manager.state.purchasedProductIDs.min().map { manager.product(for: $0)?.displayName ?? $0 }
    }

    var offers: PaywallContent {
        let state = manager.state
        return PaywallContent(
            offers: (manager.catalog?.products ?? []).map { PaywallOffer($0, manager.product(for: $0.productID)) },
            rules: tracker.rules, tier: state.access.countedTier, purchased: state.purchasedProductIDs)
    }

    func loadProducts(_ texts: ClientTexts) async -> ClientMessage? {
        await manager.loadProducts()
        return manager.state.error.flatMap { ClientMessage($0, texts) }
    }

    func purchase(_ productID: String, _ texts: ClientTexts) async -> PurchaseEnd {
        switch await manager.purchase(productID) {
        case .purchased: .done
        case .pending: .pending
        case .cancelled: .cancelled
        case .failed(let error): ClientMessage(error, texts).map { .failed($0) } ?? .cancelled
        }
    }

    func restore(_ texts: ClientTexts) async -> RestoreEnd {
        switch await manager.restorePurchases() {
        case .restored(let count): .restored(count)
        case .nothing: .nothing
        case .cancelled: .cancelled
        case .failed(let error): ClientMessage(error, texts).map { .failed($0) } ?? .cancelled
        }
    }
}

extension PlanStatus {
    /// What a status of the server's means here.
    init(_ status: AccountStatus) {
        self =
            switch status {
            case .active: .active
            case .trial: .trial
            case .cancelled: .cancelled
            case .gracePeriod: .gracePeriod
            case .expired: .expired
            case .trialExpired: .trialExpired
            case .revoked: .revoked
            case .free: .free
            case .unknown: .unknown
            }
    }
}
