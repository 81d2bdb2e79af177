package import AccountStore
import Accounts

extension GuardAccount {
    /// What a guard needs of an account as it was read; nil where nothing was read of it.
    package init?(_ view: AccountView) {
        self.init(
            phases: view.state.phases.map {
                Phase(
                    startsAt: $0.startsAt, status: $0.status.rawValue, access: $0.access, tier: $0.tier,
                    expiresAt: $0.expiresAt)
            },
            catalog: view.catalog, readAt: view.now)
    }
}
