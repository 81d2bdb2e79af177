import Foundation

extension KnownStatus {
    /// The same, with what a catalog gives where none was read yet.
    func filled(from bundled: Catalog?) -> KnownStatus {
        guard let bundled, tiers.isEmpty else { return self }
        var filled = self
        filled.take(bundled)
        return filled
    }

    /// Keeps what each product of a catalog gives, and the order of its tiers.
    mutating func take(_ catalog: Catalog) {
        ranks = catalog.tiers.map(\.tier)
        tiers = Dictionary(catalog.products.map { ($0.productID, $0.tier) }, uniquingKeysWith: { first, _ in first })
    }
}

extension KnownStatus.Answer {
    /// - Parameter readAt: when the server gave it.
    init(_ status: SubscriptionStatus, readAt: Date) {
        self.init(
            readAt: readAt, hasAccess: status.hasActiveSubscription, tier: status.tier, status: status.status.rawValue,
            displayStatus: status.displayStatus, expiresAt: status.expiresAt, accessUntil: status.accessUntil,
            tierUntil: status.tierUntil, willRenew: status.willRenew, isExpiringSoon: status.expiringSoon,
            purchaseType: status.purchaseType.rawValue, period: status.period.rawValue,
            transactionID: status.transactionID, version: status.version,
            purchases: status.subscriptions.map(KnownStatus.Purchase.init))
    }
}

extension KnownStatus.Purchase {
    init(_ purchase: AccountSubscription) {
        self.init(
            originalID: purchase.originalTransactionID, transactionID: purchase.transactionID,
            productID: purchase.productID, tier: purchase.tier, status: purchase.status.rawValue,
            hasAccess: purchase.hasAccess, expiresAt: purchase.expiresAt, isTrialPeriod: purchase.isTrialPeriod)
    }
}

extension AcceptedTransaction {
    init(_ verified: Verification) {
        self.init(
            accountID: verified.account.id, hasAccess: verified.account.hasAccess, tier: verified.account.tier,
            status: verified.account.status.rawValue, displayStatus: verified.account.displayStatus,
            expiresAt: verified.account.expiresAt, version: verified.account.version,
            purchase: verified.subscription.map(KnownStatus.Purchase.init),
            willRenew: verified.subscription?.autoRenewStatus,
            purchaseType: verified.subscription?.purchaseType.rawValue ?? "none",
            period: verified.subscription?.period.rawValue)
    }
}

extension RestoredTransactions.Fate {
    init(_ result: RestoredResult) {
        self =
            switch result {
            case .restored, .known, .transferred, .noted: .own
            case .otherAccount, .boundElsewhere: .refused
            case .invalid: .rejected(.verificationFailed)
            case .unknownProduct: .rejected(.product)
            case .undecided, .unknown: .later
            }
    }
}
