import Foundation
import Testing

@testable import StorehookClient

@Suite("The paywall's model", .timeLimit(.minutes(5)))
@MainActor
struct PaywallModelTests {
    private let plan = FakePlan()
    private let texts = ClientTexts(.english)

    private func model(tier: String? = nil) -> PaywallModel {
        PaywallModel(
            plan, tier: tier, texts: texts,
            links: AppLinks(
                privacy: URL(string: "https://example.com/privacy"), terms: URL(string: "https://example.com/terms")))
    }

    @Test("reads the products when it opens, and says so meanwhile")
    func loads() async {
        let gate = Gate()
        plan.gate = gate
        let model = model()
        #expect(plan.calls.isEmpty && model.snapshot.placeholder == "No plans are available now")
        let loading = Task { await model.load() }
        await gate.arrived()
        for await snapshot in model.snapshots where snapshot.isLoading { break }
        #expect(model.snapshot.placeholder == "Loading plans…" && model.snapshot.callToAction == nil)
        #expect(!model.snapshot.canPurchase)
        plan.offers = FakePlan.offers
        await gate.open()
        await loading.value
        #expect(plan.calls == ["load"])
        let snapshot = model.snapshot
        #expect(!snapshot.isLoading && snapshot.placeholder == nil)
        #expect(snapshot.title == "Unlock Pro" && snapshot.selected?.id == "yearly" && snapshot.canPurchase)
        #expect(snapshot.comparison?.columns.count == 3 && !snapshot.highlights.isEmpty)
        #expect(snapshot.restoreTitle == "Restore purchases")
        #expect(snapshot.privacy.title == "Privacy policy" && snapshot.privacy.url?.path == "/privacy")
        #expect(snapshot.terms.title == "Terms of service" && snapshot.terms.url?.path == "/terms")
    }

    @Test("shows what failed while reading, keeps what was read, and tries again")
    func loadFails() async {
        plan.offers = FakePlan.offers
        plan.loadEnd = ClientMessage("No connection", .retry, texts)
        let model = model()
        await model.load()
        #expect(model.snapshot.message?.text == "No connection" && model.snapshot.message?.actionTitle == "Try again")
        #expect(model.snapshot.options.count == 3)
        plan.loadEnd = nil
        await model.load()
        #expect(model.snapshot.message == nil)
    }

    @Test("has another title, button and notice for another choice")
    func selects() async {
        plan.offers = FakePlan.offers
        let model = model()
        #expect(model.snapshot.renewalNotice?.hasPrefix("Renews automatically") == true)
        model.select("top")
        #expect(model.snapshot.title == "Unlock Premium" && model.snapshot.callToAction == "Buy")
        #expect(model.snapshot.renewalNotice == nil)
        model.select("no such product")
        #expect(model.snapshot.selected?.id == "top")
    }

    @Test("sells one tier alone where the app asks for one")
    func oneTier() {
        plan.offers = FakePlan.offers
        #expect(model(tier: "pro").snapshot.options.map(\.id) == ["monthly", "yearly"])
    }

    @Test("buys what is chosen, once, and confirms it")
    func purchases() async {
        plan.offers = FakePlan.offers
        let gate = Gate()
        plan.gate = gate
        let model = model()
        let purchase = Task { await model.purchase() }
        await gate.arrived()
        #expect(model.snapshot.phase == .purchasing && !model.snapshot.canPurchase)
        model.select("monthly")
        await model.purchase()
        await model.restore()
        await gate.open()
        await purchase.value
        #expect(plan.calls == ["purchase yearly"] && model.snapshot.selected?.id == "yearly")
        #expect(model.snapshot.phase == .done && model.snapshot.confirmation == "Thank you. Pro is unlocked")
        model.dismiss()
        #expect(model.snapshot.phase == .choosing && model.snapshot.confirmation == nil)
    }

    @Test("goes back to choosing without a word when the customer cancels")
    func cancelled() async {
        plan.offers = FakePlan.offers
        plan.purchaseEnd = .cancelled
        let model = model()
        await model.purchase()
        #expect(
            model.snapshot.phase == .choosing && model.snapshot.message == nil && model.snapshot.confirmation == nil)
    }

    @Test("says that a purchase waits for approval")
    func pending() async {
        plan.offers = FakePlan.offers
        plan.purchaseEnd = .pending
        let model = model()
        await model.purchase()
        #expect(model.snapshot.phase == .pending && model.snapshot.message == nil)
        #expect(model.snapshot.confirmation?.hasPrefix("Your purchase waits for approval") == true)
    }

    @Test("shows what failed, with what to do, and lets the customer choose on")
    func failed() async {
        plan.offers = FakePlan.offers
        plan.purchaseEnd = .failed(ClientMessage("Not verified", .contactSupport, texts))
        let model = model()
        await model.purchase()
        #expect(model.snapshot.phase == .choosing && model.snapshot.canPurchase)
        #expect(model.snapshot.message?.actionTitle == "Contact support")
        model.select("monthly")
        #expect(model.snapshot.message == nil)
    }

    @Test("does not buy what the account has")
    func current() async {
        plan.offers = FakePlan.offers
        plan.offers.purchased = ["monthly", "yearly", "top"]
        let model = model()
        await model.purchase()
        #expect(plan.calls.isEmpty && !model.snapshot.canPurchase)
        #expect(model.snapshot.callToAction == "Your current plan")
    }

    @Test(
        "restores, and says what came of it",
        arguments: [
            (RestoreEnd.restored(1), PaywallSnapshot.Phase.done, nil),
            (.nothing, .choosing, "No subscription was found for this Apple Account"), (.cancelled, .choosing, nil),
            (.failed(ClientMessage("Off", .retry, ClientTexts(.english))), .choosing, "Off"),
        ] as [(RestoreEnd, PaywallSnapshot.Phase, String?)])
    func restores(_ end: RestoreEnd, _ phase: PaywallSnapshot.Phase, _ message: String?) async {
        plan.offers = FakePlan.offers
        plan.restoreEnd = end
        let model = model()
        await model.restore()
        #expect(plan.calls == ["restore"] && model.snapshot.phase == phase && model.snapshot.message?.text == message)
    }

    @Test("hands each snapshot to all who listen, and makes it anew when the plan changes")
    func snapshots() async {
        let model = model()
        let first = Task {
            for await snapshot in model.snapshots where snapshot.options.count == 3 { return snapshot.title }; return ""
        }
        let second = Task {
            for await snapshot in model.snapshots where snapshot.options.count == 3 { return snapshot.title }; return ""
        }
        plan.offers = FakePlan.offers
        #expect(await first.value == "Unlock Pro")
        #expect(await second.value == "Unlock Pro")
    }
}
