import AccountStore
import Accounts
import Base

extension AccountEnvironments {
    /// The part that a guard remembers: the phases and the catalog, so that an end counts from its instant on, without
    /// another read. The guard does not ask about the purchases.
    package var remembered: AccountEnvironments {
        AccountEnvironments(production: production.remembered, sandbox: sandbox?.remembered)
    }
}

extension AccountView {
    fileprivate var remembered: AccountView {
        var view = self
        view.purchases = []
        view.trial = nil
        return view
    }

    /// Why the account may not pass; nil if it may.
    /// - Parameters:
    ///   - tier: the tier that it needs at least; with neither this nor a feature, any access will do.
    ///   - feature: the feature that has to be open. What is left of it says ``allowance(of:at:)``.
    func refusal(at instant: Timestamp, tier: String?, feature: String?) -> AccessRefusal? {
        let phase = state.value(at: instant)
        return (catalog ?? Self.noCatalog)
            .refusal(ofTier: phase.tier, access: phase.access, needing: tier, feature: feature)
    }

    /// What there may be used of a feature, and the counter of what was; nil where no limit is set to it.
    func allowance(of feature: String, at instant: Timestamp) -> (counter: UsageCounter, limit: Int64)? {
        guard let catalog, let known = catalog.feature(feature),
            let counted = catalog.counting(of: known, in: state.value(at: instant).tier), let limit = counted.limit
        else { return nil }
        let window = UsageWindow(counted.period, at: instant, in: catalog.timeZone)
        return (UsageCounter(of: token, counted.id, in: window), limit)
    }

    private static let noCatalog = Catalog(tiers: [])
}
