extension PaywallModel {
    /// A paywall.
    /// - Parameters:
    ///   - tier: sells this tier alone; nil sells all.
    public convenience init(
        manager: SubscriptionManager, tracker: UsageTracker, tier: String? = nil, texts: ClientTexts = ClientTexts(),
        links: AppLinks = AppLinks()
    ) {
        self.init(AccountPlan(manager, tracker), tier: tier, texts: texts, links: links)
    }
}

extension SubscriptionStatusModel {
    /// The screen of an account's plan.
    public convenience init(
        manager: SubscriptionManager, tracker: UsageTracker, texts: ClientTexts = ClientTexts(),
        links: AppLinks = AppLinks()
    ) {
        self.init(AccountPlan(manager, tracker), texts: texts, links: links)
    }
}

extension RestoreModel {
    /// The screen that restores.
    public convenience init(
        manager: SubscriptionManager, tracker: UsageTracker, texts: ClientTexts = ClientTexts(),
        links: AppLinks = AppLinks()
    ) {
        self.init(AccountPlan(manager, tracker), texts: texts, links: links)
    }
}

extension ExpiredModel {
    /// The screen of an ended subscription.
    public convenience init(manager: SubscriptionManager, tracker: UsageTracker, texts: ClientTexts = ClientTexts()) {
        self.init(AccountPlan(manager, tracker), texts: texts)
    }
}
