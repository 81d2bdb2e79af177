package import AccountStore
import Accounts
import AppStorePayloads
import Subscriptions

extension AccountPicture {
    /// What stands of an account, as answers tell of it.
    /// - Parameter account: what the app calls it.
    package init(_ view: AccountView, of account: String) {
        let current = view.current
        // What gives access is told before what does not; the store has the one that speaks first, then the latest.
        let lines = view.lines.filter { $0.key == current.purchase } + view.lines.filter { $0.key != current.purchase }
        let speaking = lines.prefix { $0.key == current.purchase }
        let others = lines.dropFirst(speaking.count)
        self.init(
            account: account, token: view.token, environment: view.environment, version: view.version,
            instant: view.now, tier: current.tier, status: current.status, source: current.source,
            access: current.access, expiresAt: current.expiresAt, willRenew: current.willRenew,
            subscriptions: (speaking + others.filter(\.givesAccess) + others.filter { !$0.givesAccess })
                .map { SubscriptionPicture($0) },
            trial: view.trial.map { TrialPicture($0, of: view) })
    }
}

extension SubscriptionPicture {
    fileprivate init(_ line: AccountView.Line) {
        let kind: Kind =
            switch line.oneTime {
            case nil: .subscription
            // How long it is bought for the catalog says, also of records that do not say what they are.
            case .nonRenewing: line.isForLife ? .lifetime : .term
            default: .lifetime
            }
        self.init(
            productID: line.productID ?? "", bundleID: line.key.bundleID,
            originalTransactionID: line.key.originalTransactionID, environment: line.key.environment, kind: kind,
            status: AccountStatus(line), access: line.givesAccess, expiresAt: line.expiresAt,
            willRenew: line.willRenew, renewalProductID: line.renewalProductID, isTrialPeriod: line.inTrial,
            purchaseDate: line.originallyPurchasedAt ?? line.purchasedAt, cancelledAt: line.cancelledAt,
            trialStartedAt: line.trialStartedAt, trialEndsAt: line.trialEndsAt,
            isFamilyShared: line.ownership == OwnershipType.familyShared.rawValue)
    }
}

extension AccountStatus {
    /// A purchase's own status in the words of accounts: what is being retried without access has expired.
    fileprivate init(_ line: AccountView.Line) {
        self =
            switch line.status {
            case .trial: .trial
            case .active: .active
            case .cancelled: .cancelled
            case .gracePeriod: .gracePeriod
            case .revoked: .revoked
            case .billingRetry, .expired:
                line.trialEndsAt != nil && line.trialEndsAt == line.expiresAt ? .trialExpired : .expired
            }
    }
}

extension TrialPicture {
    /// A purchase that was made since takes its place.
    fileprivate init(_ trial: StartedTrial, of view: AccountView) {
        let bought = view.lines.compactMap(\.purchasedAt).filter { $0 >= trial.startedAt }.min()
        self.init(tier: trial.tier, startedAt: trial.startedAt, endsAt: trial.endsAt, convertedAt: bought)
    }
}
