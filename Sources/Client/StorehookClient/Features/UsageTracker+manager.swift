public import Foundation

extension UsageTracker {
    /// A tracker of the account that a manager has signed in.
    /// - Parameters:
    ///   - cache: where it keeps what waits: not that of the manager, and of one process alone.
    ///   - bundled: the catalog that the app brings along, for its first start without a network.
    ///   - timeZone: whose days count before the server has stated one.
    ///   - log: takes lines for the app's log.
    public convenience init(
        manager: SubscriptionManager, api: AccountAPI, cache: any StatusCache, bundled: Catalog? = nil,
        timeZone: TimeZone = .current, log: (@Sendable (String) -> Void)? = nil
    ) {
        if let bundled { manager.bundled = bundled }
        self.init(
            server: AccountUsageServer(api: api), cache: cache, bundled: bundled.map { FeatureRules($0) },
            timeZone: timeZone, log: log,
            context: {
                let state = manager.state
                return UsageContext(
                    accountID: state.accountID, tier: state.access.countedTier, isChecked: manager.turn.isChecked,
                    readAt: state.readAt)
            }, now: { manager.now }, changes: manager.changes)
    }
}
