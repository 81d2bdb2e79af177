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
    ///   - feature: the feature that has to be open. The use of what is counted is not asked here.
    func refusal(at instant: Timestamp, tier: String?, feature: String?) -> AccessRefusal? {
        let phase = state.value(at: instant)
        return (catalog ?? Self.noCatalog)
            .refusal(ofTier: phase.tier, access: phase.access, needing: tier, feature: feature)
    }

    private static let noCatalog = Catalog(tiers: [])
}
