import Foundation
import Testing

@testable import StorehookClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@MainActor
@Suite("The manager over the account API")
struct AnsweredStatusTests {
    private static let verify = "/v1/subscriptions/verify"
    private static let restore = "/v1/subscriptions/restore"
    private static let status = "/v1/subscriptions/status"

    private let desk = AccountDesk()
    private let store = FakeStore()
    private let manager: SubscriptionManager

    init() throws {
        let desk = desk
        desk.answer("/v1/account", AccountDesk.account())
        desk.answer(Self.status, AccountDesk.nothing)
        desk.answer("/v1/purchases", [:], status: 202)
        let api = AccountAPI(
            baseURL: try #require(URL(string: "https://api.example.com")), languages: ["zh-Hans"], transport: desk
        ) { "app-token" }
        manager = SubscriptionManager(
            api: api, source: store, cache: MemoryCache(), grace: StatusPhone.grace, clock: MovedClock())
    }

    private func launch() async {
        await manager.signIn(accountID: "alice")
        await manager.start()
    }

    private func body(_ path: String) throws -> [String: String]? {
        let data = try #require(desk.requests(path).first?.httpBody)
        return try JSONSerialization.jsonObject(with: data) as? [String: String]
    }

    // MARK: What it states

    @Test("The state has what the server states of the account")
    func states() async {
        desk.answer(Self.status, AccountDesk.status())
        await launch()
        let state = manager.state
        #expect(state.status == .active && state.displayStatus == "有效" && state.isSubscribed)
        #expect(state.access == .init(allowed: true, tier: "pro", until: AccountDesk.end, basis: .server))
        #expect(state.expiresAt == AccountDesk.end && state.accessUntil == AccountDesk.end)
        #expect(state.willRenew == true && state.transactionID == "1001" && !state.isExpiringSoon)
        #expect(state.purchasedProductIDs == ["pro.yearly"])
        #expect(manager.currentTier == "pro" && !manager.isTrialPeriod)
        desk.answer(Self.status, AccountDesk.status(["willRenew": false, "expiringSoon": true]))
        await manager.refreshSubscriptionStatus()
        #expect(manager.state.willRenew == false && manager.isSubscriptionExpiringSoon)
    }

    @Test(
        "A purchase for good, a year and none have their kinds",
        arguments: [
            ("lifetime", "lifetime", PurchaseType.lifetime, "lifetime"),
            ("subscription", "year", .subscription, "year"), ("subscription", "month", .subscription, "month"),
        ])
    func types(_ type: String, _ period: String, _ expected: PurchaseType, _ plan: String) async {
        let ends: [String: Any] = type == "lifetime" ? ["expiresAt": NSNull(), "accessUntil": NSNull()] : [:]
        let members = ["purchaseType": type, "period": period].merging(ends) { $1 }
        desk.answer(Self.status, AccountDesk.status(members, purchase: members))
        await launch()
        #expect(manager.purchaseType == expected && manager.currentTier == "pro" && manager.isSubscribed)
        #expect(manager.state.period == period && manager.statusBlock.contains("Plan Type: \(plan)"))
        desk.answer(Self.status, AccountDesk.nothing)
        await manager.refreshSubscriptionStatus()
        #expect(manager.purchaseType == .none && manager.currentTier == nil && !manager.isSubscribed)
        #expect(manager.state.status == .free)
    }

    @Test("A trial of the store's is one while it gives access")
    func trial() async {
        desk.answer(Self.status, AccountDesk.status(["status": "trial"], purchase: ["isTrialPeriod": true]))
        await launch()
        #expect(manager.isTrialPeriod && manager.state.status == .trial)
        desk.answer(
            Self.status,
            AccountDesk.status(
                ["status": "trial_expired", "hasActiveSubscription": false],
                purchase: ["isTrialPeriod": true, "hasAccess": false]))
        await manager.refreshSubscriptionStatus()
        #expect(!manager.isTrialPeriod && manager.isSubscriptionExpired)
    }

    @Test(
        "Each status of the server's gives or takes access as it says, and has its text",
        arguments: [
            ("active", true, "有效"), ("trial", true, "试用中"), ("cancelled", true, "已取消，到期前有效"),
            ("grace_period", true, "扣费失败，宽限期内有效"), ("expired", false, "已过期"), ("trial_expired", false, "试用已过期"),
            ("revoked", false, "已撤销"), ("free", false, "免费"), ("paused", true, "请更新 App 以查看此状态"),
        ])
    func words(_ word: String, _ hasAccess: Bool, _ text: String) async {
        let members: [String: Any] = ["status": word, "hasActiveSubscription": hasAccess]
        desk.answer(Self.status, AccountDesk.status(members, purchase: ["hasAccess": hasAccess]))
        await launch()
        let status = manager.state.status
        #expect(manager.hasActiveSubscription == hasAccess && status?.rawValue == word)
        #expect(status.map { ClientTexts(.simplifiedChinese)(PlanStatus($0).key) } == text)
        #expect(manager.isSubscriptionExpired == (!hasAccess && word != "free"))
    }

    // MARK: What it hands in

    @Test("A purchase is bought with the account's token and handed in as the store signed it, with the app's token")
    func delivers() async throws {
        await launch()
        desk.answer(Self.verify, AccountDesk.verification)
        desk.answer(Self.status, AccountDesk.status())
        #expect(await manager.purchase("pro.monthly").succeeded)
        #expect(store.with { $0.bought } == [StatusSamples.token])
        #expect(
            try body(Self.verify) == [
                "signedTransactionInfo": "signed.1001.secret", "signedRenewalInfo": "renewal.1001.secret",
            ])
        let head = desk.requests(Self.verify).first?.value(forHTTPHeaderField: "Authorization")
        #expect(head == "Bearer app-token")
        #expect(store.with { $0.finished } == ["1001"])
        #expect(manager.isPurchased("pro.monthly") && manager.isSubscribed)
        await manager.turn.reporting?.value
        #expect(try body("/v1/purchases") == ["kind": "purchase", "outcome": "completed", "productId": "pro.monthly"])
    }

    @Test("A purchase that comes while the server's word is not known yet counts by the server's answer to it alone")
    func verified() async throws {
        desk.refuse(Self.status, 500, "internal")
        await launch()
        desk.answer(Self.verify, AccountDesk.verification)
        #expect(await manager.purchase("pro.monthly").succeeded)
        #expect(manager.state.status == .active && manager.state.purchaseType == .subscription)
        #expect(manager.state.period == "year" && manager.currentTier == "pro")
    }

    @Test(
        "What the server refuses has its kind of error, gives nothing where it is a verdict, and is not finished",
        arguments: [
            (403, "other_account", ClientError.otherAccount, false),
            (409, "bound_elsewhere", .otherAccount, false), (400, "invalid_signature", .verificationFailed, false),
            (400, "unknown_product", .product, true), (400, "invalid_request", .unknown, true),
        ])
    func refusals(_ status: Int, _ code: String, _ kind: ClientError, _ isAllowed: Bool) async {
        await launch()
        desk.refuse(Self.verify, status, code)
        let result = await manager.purchase("pro.monthly")
        guard case .failed(kind) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(manager.error == kind && manager.isSubscribed == isAllowed)
        #expect(store.with { $0.finished }.isEmpty)
        await manager.refreshSubscriptionStatus()
        #expect(desk.requests(Self.verify).count == 1, "it is not handed in again in this turn")
    }

    @Test(
        "A server that cannot answer now keeps a purchase that the store has sold, and is asked again",
        arguments: [(500, "internal"), (503, "unavailable"), (429, "rate_limited"), (401, "token_invalid")])
    func later(_ status: Int, _ code: String) async {
        await launch()
        desk.refuse(Self.verify, status, code)
        #expect(await manager.purchase("pro.monthly").succeeded)
        #expect(manager.isSubscribed && store.with { $0.finished }.isEmpty)
        desk.answer(Self.verify, AccountDesk.verification)
        desk.answer(Self.status, AccountDesk.status())
        await manager.refreshSubscriptionStatus()
        #expect(desk.requests(Self.verify).count == 2 && store.with { $0.finished } == ["1001"])
    }

    @Test(
        "Restoring sends what the store signed, and each transaction has its fate",
        arguments: [
            ("restored", nil), ("other_account", ClientError.otherAccount), ("bound_elsewhere", .otherAccount),
            ("invalid", .verificationFailed), ("unknown_product", .product), ("undecided", .network),
        ])
    func restores(_ fate: String, _ kind: ClientError?) async throws {
        await launch()
        store.with { $0.sell("pro.monthly", to: StatusSamples.token) }
        desk.answer(Self.restore, AccountDesk.restoration(fate))
        let result = await manager.restorePurchases()
        #expect(store.with { $0.syncs } == 1)
        let sent = try #require(desk.requests(Self.restore).first?.httpBody)
        #expect(String(decoding: sent, as: UTF8.self) == #"{"signedTransactions":["signed.1001.secret"]}"#)
        switch result {
        case .restored(1): #expect(kind == nil && store.with { $0.finished } == ["1001"] && manager.isSubscribed)
        case .failed(let error): #expect(kind == error && store.with { $0.finished }.isEmpty)
        default: Issue.record("\(result)")
        }
        if ["other_account", "bound_elsewhere", "invalid"].contains(fate) { #expect(!manager.isSubscribed) }
    }

    @Test("Each call has its method and its path")
    func paths() async throws {
        let desk = AccountDesk()
        let api = AccountAPI(
            baseURL: try #require(URL(string: "https://api.example.com")), languages: [], transport: desk
        ) { "t" }
        let calls: [(String, () async throws -> Any)] = [
            ("GET /v1/account", api.account), ("GET /v1/subscriptions/status", api.status),
            ("POST /v1/subscriptions/refresh", api.refresh), ("GET /v1/products", api.products),
            ("POST /v1/subscriptions/verify", { try await api.verify("a.b.c") }),
            ("POST /v1/subscriptions/restore", { try await api.restore() }),
            ("GET /v1/entitlements", api.entitlements), ("GET /v1/features", api.features),
            ("GET /v1/features/ai", { try await api.feature("ai") }), ("GET /v1/usage/current", api.usage),
            ("POST /v1/usage/ai", { try await api.report(of: "ai") }),
            ("GET /v1/subscriptions/trial/eligibility", api.trialEligibility),
            ("GET /v1/subscriptions/trial/status", api.trialStatus),
            ("POST /v1/subscriptions/trial/start", { try await api.startTrial() }),
            ("POST /v1/purchases", { try await api.report(PurchaseAttempt(.restore, .nothing)) }),
            ("PUT /v1/consents/consumption", { try await api.setConsumptionConsent(true) }),
        ]
        for (_, call) in calls { await #expect(throws: ClientError.network) { _ = try await call() } }
        #expect(desk.asked == calls.map(\.0))
    }
}
