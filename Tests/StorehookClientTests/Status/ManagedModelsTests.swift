import Foundation
import Testing

@testable import StorehookClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@MainActor
@Suite("The models of a manager", .timeLimit(.minutes(5)))
struct ManagedModelsTests {
    private let phone = StatusPhone()

    private func tracker() -> UsageTracker {
        UsageTracker(
            manager: phone.manager,
            api: AccountAPI(baseURL: URL(fileURLWithPath: "/"), transport: NoTransport()) { "" },
            cache: MemoryCache(), bundled: StatusPhone.catalog)
    }

    private struct NoTransport: HTTPTransport {
        func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
            throw URLError(.notConnectedToInternet)
        }
    }

    @Test("A paywall sells what the manager has loaded, and its status follows")
    func paywall() async {
        await phone.launch()
        let tracker = tracker()
        let paywall = PaywallModel(manager: phone.manager, tracker: tracker, texts: ClientTexts(.english))
        let status = SubscriptionStatusModel(manager: phone.manager, tracker: tracker)
        #expect(paywall.snapshot.options.isEmpty)
        await paywall.load()
        #expect(paywall.snapshot.options.map(\.id) == ["pro.monthly", "basic.monthly", "lifetime"])
        #expect(paywall.snapshot.options.first?.price == "$1/month")
        paywall.select("pro.monthly")
        let before = status.snapshot
        await paywall.purchase()
        #expect(phone.access.allowed)
        #expect(await phone.until { status.snapshot != before })
        #expect(status.snapshot.card.plan == "pro" && !status.snapshot.details.isEmpty)
        #expect(await phone.until { tracker.currentTier == "pro" })
    }

    @Test("A purchase that the customer does not want is no error, and one that waits is shown as that")
    func unfinished() async {
        await phone.launch()
        let paywall = PaywallModel(manager: phone.manager, tracker: tracker(), texts: ClientTexts(.english))
        await paywall.load()
        phone.store.with { $0.outcome = .cancelled }
        await paywall.purchase()
        #expect(paywall.snapshot.phase == .choosing && paywall.snapshot.message == nil)
        phone.store.with { $0.outcome = .pending }
        await paywall.purchase()
        #expect(paywall.snapshot.phase == .pending)
    }

    @Test("Restoring and renewing go by the manager")
    func restoring() async {
        await phone.launch()
        let tracker = tracker()
        let restore = RestoreModel(manager: phone.manager, tracker: tracker)
        await restore.restore()
        #expect(restore.snapshot.state == .noSubscriptions)
        phone.store.with { $0.sell("pro.monthly", to: nil) }
        await restore.restore()
        #expect(restore.snapshot.state == .success(1))
        let expired = ExpiredModel(manager: phone.manager, tracker: tracker)
        let before = expired.snapshot
        phone.pass(31 * 86_400)
        await phone.manager.refreshSubscriptionStatus()
        #expect(phone.manager.isSubscriptionExpired)
        #expect(await phone.until { expired.snapshot != before })
        #expect(expired.snapshot.isExpired && expired.snapshot.expiredOn != nil)
    }

    @Test("Each status of the server's has its meaning")
    func statuses() {
        let meant = Set((AccountStatus.words + [.unknown("paused")]).map { PlanStatus($0) })
        #expect(meant.union([.billingRetry]) == Set(PlanStatus.allCases))
    }
}
