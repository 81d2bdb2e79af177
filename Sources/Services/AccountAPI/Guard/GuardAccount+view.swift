package import AccountStore
import Accounts

extension GuardAccount {
    /// What a guard needs of an account as it was read; nil where nothing was read of it.
    package init?(_ view: AccountView) {
        let catalog = view.catalog
        let features = (catalog?.features ?? []).map { feature in
            (feature.id, Set(feature.limits.filter { $0.value.isOpen }.keys))
        }
        self.init(
            phases: view.state.phases.map {
                Phase(
                    startsAt: $0.startsAt, status: $0.status.rawValue, access: $0.access, tier: $0.tier,
                    expiresAt: $0.expiresAt)
            },
            offer: Offer(
                tiers: (catalog?.tiers ?? []).map(\.id), features: Dictionary(features) { first, _ in first }),
            readAt: view.now)
    }
}
