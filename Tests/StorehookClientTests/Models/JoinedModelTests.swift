import Foundation
import Testing

@testable import StorehookClient

@MainActor
@Suite("The models of a manager and a tracker")
struct JoinedModelTests {
    private let phone = StatusPhone()
    private let texts = ClientTexts(.english)

    private func tracker() throws -> UsageTracker {
        let api = AccountAPI(
            baseURL: try #require(URL(string: "https://api.example.com")), transport: ScriptedTransport([])
        ) { "token" }
        return UsageTracker(manager: phone.manager, api: api, cache: MemoryCache(), bundled: StatusPhone.catalog)
    }

    @Test("A paywall sells what the catalog has at the store's price, and the plan's screen shows what was bought")
    func purchase() async throws {
        await phone.launch()
        let (manager, tracker) = (phone.manager, try tracker())
        let paywall = PaywallModel(manager: manager, tracker: tracker, texts: texts)
        #expect(paywall.snapshot.options.isEmpty)
        await paywall.load()
        #expect(paywall.snapshot.options.map(\.id) == ["pro.monthly", "basic.monthly", "lifetime"])
        #expect(paywall.snapshot.options.first?.price == "$1/month")
        let plan = SubscriptionStatusModel(manager: manager, tracker: tracker, texts: texts)
        #expect(plan.snapshot.card.plan == texts(.planFree))
        paywall.select("pro.monthly")
        await paywall.purchase()
        #expect(paywall.snapshot.phase == .done && manager.isPurchased("pro.monthly"))
        #expect(await phone.until { plan.snapshot.card.plan == "pro" })
        #expect(plan.snapshot.card.status == texts(.statusActive))
        #expect(!plan.snapshot.details.isEmpty)
    }

    @Test("What fails is shown with what to do, and a purchase that the customer does not want is not")
    func failures() async throws {
        await phone.launch()
        let (manager, tracker) = (phone.manager, try tracker())
        let paywall = PaywallModel(manager: manager, tracker: tracker, texts: texts)
        await paywall.load()
        phone.store.with { $0.outcome = .cancelled }
        await paywall.purchase()
        #expect(paywall.snapshot.phase == .choosing && paywall.snapshot.message == nil)
        phone.store.with { $0.outcome = .pending }
        await paywall.purchase()
        #expect(paywall.snapshot.phase == .pending)
        let restore = RestoreModel(manager: manager, tracker: tracker, texts: texts)
        await restore.restore()
        #expect(restore.snapshot.state == .noSubscriptions)
    }

    @Test("An ended subscription is shown with its date")
    func ended() async throws {
        await phone.launch()
        #expect(await phone.manager.purchase("pro.monthly").succeeded)
        phone.pass(40 * 86_400)
        await phone.manager.refreshSubscriptionStatus()
        let expired = ExpiredModel(manager: phone.manager, tracker: try tracker(), texts: texts)
        #expect(expired.snapshot.isExpired && expired.snapshot.expiredOn != nil)
    }

    @Test("Every status of the server has its meaning, and a later one is unknown")
    func words() {
        #expect(!AccountStatus.words.map { PlanStatus($0) }.contains(.unknown))
        #expect(PlanStatus(.unknown("paused")) == .unknown)
    }
}
