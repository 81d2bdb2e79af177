import Foundation
import Testing

@testable import StorehookClient

@MainActor
@Suite("A customer whose tier is not known yet")
struct UnknownTierTests {
    private let phone = StatusPhone()

    private static let catalog = Catalog(
        products: StatusPhone.catalog.products,
        tiers: [
            CatalogTier(
                features: [TierFeature(allowed: false, feature: "export", isUnlimited: false)], name: "Free",
                tier: "free"),
            CatalogTier(
                features: [TierFeature(allowed: true, feature: "export", isUnlimited: true)], name: "Pro", tier: "pro"),
        ], trial: TrialEligibility(eligible: false, reason: nil))

    private func tracker(_ bundled: Catalog?) throws -> UsageTracker {
        UsageTracker(
            manager: phone.manager,
            api: AccountAPI(
                baseURL: try #require(URL(string: "https://storehook.example")), transport: ScriptedTransport([])
            ) { "" }, cache: MemoryCache(), bundled: bundled)
    }

    @Test("has the tier of the catalog that the app brings along")
    func bundled() async throws {
        phone.store.with { _ = $0.sell("pro.monthly", to: StatusSamples.token) }
        phone.server.with { $0.weather = .away }
        await phone.launch()
        let tracker = try tracker(Self.catalog)
        #expect(phone.access.tier == "pro")
        #expect(FeatureGate(tracker: tracker, texts: ClientTexts(.english)).check("export") == nil)
        let model = SubscriptionStatusModel(manager: phone.manager, tracker: tracker, texts: ClientTexts(.english))
        #expect(model.snapshot.card.plan == "Pro")
        phone.manager.signOut()
    }

    @Test(
        "has the highest one's features, and the product's name on the card, where the product is newer than the catalog"
    )
    func newerProduct() async throws {
        phone.store.with { _ = $0.sell("pro.newest", to: StatusSamples.token) }
        phone.server.with { $0.weather = .away }
        await phone.launch()
        let tracker = try tracker(Self.catalog)
        #expect(phone.access.allowed && phone.access.tier == nil)
        #expect(FeatureGate(tracker: tracker, texts: ClientTexts(.english)).check("export") == nil)
        let model = SubscriptionStatusModel(manager: phone.manager, tracker: tracker, texts: ClientTexts(.english))
        #expect(model.snapshot.card.plan == "pro.newest")
        phone.manager.signOut()
    }

    @Test("whose token is another account's reports nothing under it")
    func otherToken() async throws {
        phone.server.with { $0.caller = "bob" }
        await phone.launch(as: "alice")
        let usage = FakeUsageServer(SampleRules.readmigo, at: MovedClock.start)
        let manager = phone.manager
        func context() -> UsageContext {
            UsageContext(
                accountID: manager.state.accountID, tier: nil, isChecked: manager.turn.isChecked,
                readAt: manager.state.readAt)
        }
        let tracker = UsageTracker(
            server: usage, cache: MemoryCache(), bundled: SampleRules.readmigo, timeZone: .gmt, log: nil,
            context: context, now: { manager.now }, changes: manager.changes)
        tracker.count("ai_explain")
        await tracker.synchronize()
        #expect(usage.with { $0.arrived }.isEmpty && tracker.state.waiting == 1)
        phone.server.with { $0.caller = "alice" }
        await manager.refreshSubscriptionStatus()
        await tracker.synchronize()
        #expect(usage.with { $0.arrived }.count == 1 && tracker.state.waiting == 0)
        manager.signOut()
    }

    @Test("who signs in after another one does not see that one's offers")
    func offers() async {
        await phone.launch()
        await phone.manager.loadProducts()
        #expect(phone.manager.catalog != nil)
        phone.manager.signOut()
        await phone.manager.signIn(accountID: "bob")
        #expect(phone.manager.catalog == nil && phone.manager.products.isEmpty)
    }

    @Test("who renewed at the store while the server is away sees no warning of the former end")
    func renewed() async {
        await phone.launch()
        _ = await phone.manager.purchase("pro.monthly")
        phone.server.with { $0.weather = .away }
        phone.pass(29 * StatusSamples.day)
        await phone.manager.refreshSubscriptionStatus()
        #expect(phone.manager.state.isExpiringSoon)
        phone.store.with { _ = $0.sell("pro.monthly", to: StatusSamples.token, of: "1001") }
        await phone.manager.refreshSubscriptionStatus()
        #expect(phone.manager.isSubscribed && !phone.manager.state.isExpiringSoon)
        phone.manager.signOut()
    }
}
