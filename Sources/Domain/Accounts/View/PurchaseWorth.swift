import Base
import Subscriptions

/// What a purchase gives its account at an instant, or why it gives nothing.
package enum PurchaseWorth: Sendable, Hashable {
    /// This tier.
    case tier(String)
    /// Why it gives nothing.
    case nothing(Why)

    /// Why a purchase gives nothing. The raw values are for programs.
    package enum Why: String, Sendable, Hashable, CaseIterable {
        /// The catalog does not have the product.
        case notInCatalog = "not_in_catalog"
        /// It belongs to another account, or to none.
        case notOwned = "not_owned"
        /// Its own status gives no access: it has ended, was revoked, or has not begun.
        case notCurrent = "not_current"
        /// Staff blocked it, or gave the account another tier instead.
        case overruled
    }

    /// For people.
    package var text: String {
        switch self {
        case .tier(let tier): tier
        case .nothing(.notInCatalog): "nothing: the catalog lacks it"
        case .nothing(.notOwned): "nothing: not this account's"
        case .nothing(.notCurrent): "nothing: no access now"
        case .nothing(.overruled): "nothing: staff overruled it"
        }
    }

    /// The tier; nil where it gives none.
    package var tier: String? { if case .tier(let tier) = self { tier } else { nil } }

    /// Why it gives nothing; nil where it gives a tier.
    package var why: Why? { if case .nothing(let why) = self { why } else { nil } }
}

extension AccountView {
    /// What a purchase of the account gives it.
    package func worth(of purchase: SubscriptionView) -> PurchaseWorth {
        guard purchase.owner == token else { return .nothing(.notOwned) }
        guard purchase.access else { return .nothing(.notCurrent) }
        guard let product = catalog?.product(purchase.productID ?? "", of: purchase.key.bundleID) else {
            return .nothing(.notInCatalog)
        }
        if let counts = state.counts(purchase.key, at: instant), !counts { return .nothing(.overruled) }
        if current.status == .revoked, current.purchase == purchase.key { return .nothing(.overruled) }
        return .tier(product.tier)
    }

    /// The purchases that are paid for and give nothing because the catalog lacks their products.
    package var unsoldPurchases: [SubscriptionView] {
        purchases.filter { worth(of: $0) == .nothing(.notInCatalog) }
    }
}
