package import Base

/// A tier, as an account has it: the one it is in, or one below it.
package struct HeldTier: Sendable, Hashable {
    /// The tier, as the catalog calls it.
    package var tier: String
    /// What gives it.
    package var source: AccountSource
    /// When it ends by what is known; nil where it stays.
    package var expiresAt: Timestamp?
}

extension AccountView {
    /// All tiers that the account has at its instant, in rising order: the first one, which everybody has, among them.
    package func tiers(by catalog: Catalog) -> [HeldTier] {
        let rank = catalog.rank(of: current.tier) ?? 0
        return catalog.tiers.prefix(rank + 1).map { tier in
            guard tier.id != catalog.free.id else { return HeldTier(tier: tier.id, source: .none, expiresAt: nil) }
            // For a lower tier than the present one only the end of all access is known.
            return HeldTier(
                tier: tier.id, source: current.source,
                expiresAt: tier.id == current.tier ? current.tierUntil : current.expiresAt)
        }
    }
}
