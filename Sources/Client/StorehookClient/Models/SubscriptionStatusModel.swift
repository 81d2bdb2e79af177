/// The screen of the account's plan: its card, its details, what was used, what is locked, and the way to manage it.
@MainActor
public final class SubscriptionStatusModel: ScreenModel<SubscriptionStatusSnapshot> {
    private let links: AppLinks

    init(_ plan: any PlanProvider, texts: ClientTexts, links: AppLinks) {
        self.links = links
        super.init(Self.snapshot(plan, texts, links), plan, texts)
    }

    override func made() -> SubscriptionStatusSnapshot { Self.snapshot(plan, texts, links) }

    private static func snapshot(
        _ plan: any PlanProvider, _ texts: ClientTexts, _ links: AppLinks
    ) -> SubscriptionStatusSnapshot {
        let (facts, offers) = (plan.facts, plan.offers)
        let rules = offers.rules ?? FeatureRules(tiers: [], features: [])
        let rank = offers.tier.map { tier in rules.tiers.firstIndex { $0.id == tier } ?? rules.tiers.count } ?? 0
        return SubscriptionStatusSnapshot(
            card: PlanCard(facts, texts), detailsTitle: texts(.detailsTitle), details: PlanDetail.all(facts, texts),
            usageTitle: texts(.usageTitle),
            usage: UsageBar.all(rules, tier: offers.tier, use: { plan.use(of: $0) }, texts),
            lockedTitle: texts(.lockedTitle), locked: LockedFeature.all(rules, tier: offers.tier, texts),
            manage: facts.transactionID == nil
                ? nil : ModelLink(title: texts(.manageSubscription), url: links.manage),
            upgradeTitle: rank + 1 < rules.tiers.count ? texts(.upgrade) : nil,
            banner: RenewalBanner(facts, at: plan.now, texts))
    }
}
