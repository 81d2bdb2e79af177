/// The paywall: periods to choose, what tiers give, the trial, restoring, and links.
///
/// The products are read when the paywall opens, by ``load()``, and not before.
@MainActor
public final class PaywallModel: ScreenModel<PaywallSnapshot> {
    /// What the customer has done here.
    private struct Doings {
        var choice: String?
        var phase = PaywallSnapshot.Phase.choosing
        var message: ClientMessage?
    }

    private let links: AppLinks
    private let tier: String?
    private var doings = Doings()

    init(_ plan: any PlanProvider, tier: String?, texts: ClientTexts, links: AppLinks) {
        (self.links, self.tier) = (links, tier)
        super.init(Self.snapshot(plan, Doings(), tier, texts, links), plan, texts)
    }

    /// Reads the products. Where that fails the snapshot's message says so; what was read before stays.
    public func load() async {
        doings.message = nil
        update()
        doings.message = await plan.loadProducts(texts)
        update()
    }

    /// Chooses a product.
    /// - Parameter productID: Apple's id, as ``PaywallOption/id``. Any other changes nothing.
    public func select(_ productID: String) {
        guard doings.phase == .choosing, snapshot.options.contains(where: { $0.id == productID }) else { return }
        doings.choice = productID
        doings.message = nil
        update()
    }

    /// Buys what is chosen. It returns when the purchase has ended; while one goes on nothing happens.
    public func purchase() async {
        guard doings.phase == .choosing, let option = snapshot.selected, !option.isCurrent else { return }
        // A choice that was the paywall's is the customer's now: it stays when the offers change meanwhile.
        doings.choice = option.id
        await perform(.purchasing) {
            switch await self.plan.purchase(option.id, self.texts) {
            case .done: (.done, nil)
            case .pending: (.pending, nil)
            case .cancelled: (.choosing, nil)
            case .failed(let message): (.choosing, message)
            }
        }
    }

    /// Restores what was bought.
    public func restore() async {
        guard doings.phase == .choosing else { return }
        await perform(.restoring) {
            switch await self.plan.restore(self.texts) {
            case .restored: (.done, nil)
            case .nothing: (.choosing, .nothingToRestore(self.texts))
            case .cancelled: (.choosing, nil)
            case .failed(let message): (.choosing, message)
            }
        }
    }

    /// Closes the message, and what was shown of a purchase that has ended.
    public func dismiss() {
        doings.message = nil
        if doings.phase == .done || doings.phase == .pending { doings.phase = .choosing }
        update()
    }

    private func perform(
        _ phase: PaywallSnapshot.Phase, _ work: () async -> (PaywallSnapshot.Phase, ClientMessage?)
    ) async {
        doings.phase = phase
        doings.message = nil
        update()
        (doings.phase, doings.message) = await work()
        update()
    }

    override func made() -> PaywallSnapshot { Self.snapshot(plan, doings, tier, texts, links) }

    private static func snapshot(
        _ plan: any PlanProvider, _ doings: Doings, _ tier: String?, _ texts: ClientTexts, _ links: AppLinks
    ) -> PaywallSnapshot {
        var content = plan.offers
        if let tier { content.offers.removeAll { $0.tier != tier } }
        content.choice = doings.choice
        let options = content.options(texts)
        let selected = options.first(where: \.isSelected)
        let placeholder: TextKey? =
            options.isEmpty ? (plan.isLoading ? .paywallLoading : .paywallEmpty) : nil
        return PaywallSnapshot(
            title: content.title(texts), highlights: content.highlights(texts), options: options,
            comparison: content.rules.map { ComparisonTable($0, current: content.tier, texts) },
            isLoading: plan.isLoading, placeholder: placeholder.map { texts($0) }, phase: doings.phase,
            message: doings.message, confirmation: confirmation(doings.phase, selected, texts),
            callToAction: selected?.callToAction,
            canPurchase: doings.phase == .choosing && selected?.isCurrent == false,
            renewalNotice: selected?.period?.renews == true ? texts(.renewsUntilCancelled) : nil,
            restoreTitle: texts(.restorePurchases),
            privacy: ModelLink(title: texts(.privacyPolicy), url: links.privacy),
            terms: ModelLink(title: texts(.termsOfService), url: links.terms))
    }

    private static func confirmation(
        _ phase: PaywallSnapshot.Phase, _ selected: PaywallOption?, _ texts: ClientTexts
    ) -> String? {
        switch phase {
        case .done: selected?.tierName.map { texts(.purchaseDone, ["tier": $0]) } ?? texts(.purchaseDoneAny)
        case .pending: texts(.purchasePending)
        case .choosing, .purchasing, .restoring: nil
        }
    }
}
