import Foundation
import Testing

@testable import StorehookClient

/// What the documents call a manager's members, and what they state.
@MainActor
@Suite("The manager's names", .timeLimit(.minutes(5)))
struct ManagerNamesTests {
    private let phone = StatusPhone()
    private static let day = StatusSamples.day
    private static let end = StatusSamples.now + 10 * StatusSamples.day
    private var manager: SubscriptionManager { phone.manager }

    private func granted() async {
        phone.server.with { $0.grants["alice"] = Self.end }
        await phone.launch()
    }

    @Test("state what is known of an account with access, of one whose access has ended, and of none")
    func names() async {
        #expect(!manager.hasCompletedInitialScan && !manager.isSubscriptionExpired)
        #expect(manager.subscriptionExpiryDate == nil)
        await granted()
        #expect(manager.hasCompletedInitialScan && manager.state.hasCompletedInitialScan)
        #expect(manager.isSubscribed && manager.hasActiveSubscription && manager.hasValidSubscription)
        #expect(manager.state.isSubscribed && manager.currentTier == "pro" && !manager.isSubscriptionExpired)
        #expect(manager.subscriptionExpiryDate == Self.end && manager.purchasedProductIds.isEmpty)
        _ = await manager.purchase("lifetime")
        #expect(manager.purchasedProductIDs == ["lifetime"] && manager.purchasedProductIds == ["lifetime"])
        #expect(manager.isPurchased("lifetime") && !manager.isPurchased("pro.monthly"))
        #expect(manager.subscriptionExpiryDate == nil, "it never ends")
        phone.server.with { _ = $0.blocked.insert("alice") }
        await manager.checkSubscriptionStatus()
        #expect(!manager.isSubscribed && !manager.hasActiveSubscription && !manager.hasValidSubscription)
        #expect(manager.isSubscriptionExpired && manager.purchasedProductIDs.isEmpty && manager.currentTier == nil)
    }

    @Test("state the end of what is over")
    func ended() async {
        await phone.launch()
        phone.server.with { $0.weather = .away }
        _ = await manager.purchase("pro.monthly")
        let end = StatusSamples.now + 30 * Self.day
        #expect(manager.subscriptionExpiryDate == end, "by the store, while the server has said nothing")
        phone.server.with { $0.weather = .fine }
        await manager.refreshSubscriptionStatus()
        #expect(manager.subscriptionExpiryDate == end && !manager.isSubscriptionExpired)
        phone.pass(31 * Self.day)
        await manager.refreshSubscriptionStatus()
        #expect(manager.isSubscriptionExpired && !manager.isSubscriptionExpiringSoon)
        #expect(manager.subscriptionExpiryDate == end && manager.state.expiresAt == end)
    }

    @Test("say that something is being read, bought or restored, and that it has ended", arguments: [0, 1, 2, 3])
    func loading(_ act: Int) async {
        await phone.launch()
        #expect(!manager.isLoading)
        let held = AsyncStream.makeStream(of: Void.self)
        let path = ["catalog", "verify", "status", "status"][act]
        phone.server.hold(path) { for await _ in held.stream { return } }
        let manager = manager
        let work = Task {
            switch act {
            case 0: await manager.loadProducts()
            case 1: _ = await manager.purchase("pro.monthly")
            case 2: _ = await manager.restorePurchases()
            default: await manager.refreshSubscriptionStatus()
            }
        }
        #expect(await phone.until { manager.isLoading })
        #expect(manager.state.isLoading)
        phone.server.hold(path, nil)
        held.continuation.finish()
        await work.value
        #expect(!manager.isLoading && !manager.state.isLoading)
    }

    @Test("state the kept status before the server has answered, and ask it behind the screen")
    func cachedFirst() async {
        await granted()
        let before = manager
        before.signOutOfMemory()
        let held = AsyncStream.makeStream(of: Void.self)
        phone.server.hold("status") { for await _ in held.stream { return } }
        let next = SubscriptionManager(
            server: phone.server, source: phone.store, cache: phone.cache, grace: 0, clock: phone.clock)
        await next.signIn(accountID: "alice")
        #expect(next.state.access == .init(allowed: true, tier: "pro", until: Self.end, basis: .cache))
        let start = Task { await next.start() }
        #expect(await phone.until { next.isLoading })
        #expect(next.isSubscribed && !next.hasCompletedInitialScan)
        held.continuation.finish()
        await start.value
        #expect(next.state.access.basis == .server && next.hasCompletedInitialScan)
        next.signOut()
    }

    @Test("know a new status by itself, and report it to all who listen")
    func listeners() async {
        await phone.launch()
        let manager = manager
        let seen = StatusPhone.Lines()
        let listener = Task {
            for await state in manager.states where state.isSubscribed { seen.add("subscribed") }
        }
        #expect(await phone.until { phone.clock.sleeping == 1 })
        phone.server.with { $0.grants["alice"] = Self.end }
        phone.clock.wake()
        #expect(await phone.until { !seen.all.isEmpty })
        listener.cancel()
    }

    @Test("know what comes by itself: renewed, bought outside, by a code, and changed to another plan")
    func comesByItself() async {
        await phone.launch()
        let first = phone.store.with { $0.sell("basic.monthly", to: StatusSamples.token) }
        phone.store.post(.verified(first))
        #expect(await phone.until { phone.manager.isPurchased("basic.monthly") })
        // A code, or a purchase in the App Store: it has no token of the app's.
        let code = phone.store.with { $0.sell("lifetime", to: nil) }
        phone.store.post(.verified(code))
        #expect(await phone.until { phone.manager.isPurchased("lifetime") })
        // A renewal, and a change of the plan: another transaction of the same purchase.
        phone.pass(29 * Self.day)
        let renewal = phone.store.with { $0.sell("basic.monthly", to: StatusSamples.token, of: first.originalID) }
        phone.store.post(.verified(renewal))
        #expect(await phone.until { phone.store.with { $0.finished.contains(renewal.id) } })
        let change = phone.store.with { $0.sell("pro.monthly", to: StatusSamples.token, of: first.originalID) }
        phone.store.post(.verified(change))
        #expect(await phone.until { phone.manager.isPurchased("pro.monthly") })
        #expect(await phone.until { !phone.manager.isPurchased("basic.monthly") })
        #expect(phone.server.with { $0.verified } == [first, code, renewal, change].map(\.id))
        #expect(await phone.until { phone.store.with { $0.finished } == [first, code, renewal, change].map(\.id) })
    }

    @Test("say that a purchase waits for approval, and have it once it is approved")
    func approved() async {
        await phone.launch()
        phone.store.with { $0.outcome = .pending }
        guard case .pending = await manager.purchase("pro.monthly") else {
            Issue.record("it does not wait")
            return
        }
        #expect(!manager.isSubscribed && manager.error == nil)
        phone.store.post(.verified(phone.store.with { $0.sell("pro.monthly", to: StatusSamples.token) }))
        #expect(await phone.until { phone.manager.isSubscribed })
    }

    @Test("take a customer who closes the store's window for one who does not want it: nothing is shown")
    func cancels() async {
        await phone.launch()
        for error in [ClientError.cancelled, CancellationError()] as [any Error] {
            phone.store.with { $0.error = error }
            guard case .cancelled = await manager.purchase("pro.monthly"),
                case .cancelled = await manager.restorePurchases()
            else {
                Issue.record("\(error)")
                return
            }
            #expect(manager.error == nil)
        }
        #expect(
            await phone.reports()
                == Array(repeating: ["purchase cancelled", "restore cancelled"], count: 2).flatMap(\.self))
    }

    @Test("have an error for people, as the last act left it")
    func errors() async {
        await phone.launch()
        let texts = ClientTexts(.simplifiedChinese)
        for (error, kind, action) in [
            (URLError(.notConnectedToInternet), ClientError.network, ClientMessage.Action.retry),
            (FakeStore.Killed(), .unknown, .contactSupport),
        ] as [(any Error, ClientError, ClientMessage.Action)] {
            phone.store.with { $0.error = error }
            _ = await manager.purchase("pro.monthly")
            #expect(manager.error == kind && manager.state.error == kind)
            #expect(manager.error.flatMap { ClientMessage($0, texts) }?.action == action)
        }
        #expect(ClientMessage(.cancelled, texts) == nil)
        #expect(ClientMessage(.upgradeNeeded(prompt: "Get Pro"), texts)?.text == "Get Pro")
        phone.store.with { $0.error = nil }
        _ = await manager.purchase("pro.monthly")
        #expect(manager.error == nil)
    }

    // MARK: The log

    /// As an error of a store that names the customer in an address.
    private struct Telling: Error, CustomStringConvertible {
        var description: String { "https://store.example.com/customers/anna@example.com" }
    }

    @Test("log how purchases and restores ended, and errors by their kind alone")
    func log() async {
        await phone.launch()
        _ = await manager.purchase("pro.monthly")
        _ = await manager.restorePurchases()
        phone.store.with { $0.error = Telling() }
        _ = await manager.purchase("lifetime")
        _ = await manager.restorePurchases()
        let lines = phone.lines.all
        for line in [
            "subscription: buying pro.monthly ended: purchased", "subscription: restoring ended: completed",
            "subscription: buying lifetime failed: Telling, unknown", "subscription: buying lifetime ended: failed",
            "subscription: the purchases cannot be restored: Telling, unknown", "subscription: restoring ended: failed",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        phone.server.with { $0.weather = .away }
        phone.store.with { $0.isAway = true }
        await manager.refreshSubscriptionStatus()
        await manager.loadProducts()
        #expect(phone.lines.all.contains { $0.hasSuffix("what was last known counts: ServerFault, network") })
        #expect(!phone.lines.all.contains { $0.contains("anna") || $0.contains("secret") })
    }

    @Test("log what could not be loaded or handed in, and go on")
    func productLog() async {
        await phone.launch()
        phone.store.with { $0.isAway = true }
        await manager.loadProducts()
        #expect(phone.lines.all.last == "subscription: the products cannot be loaded: Away, unknown")
        phone.store.with { $0.isAway = false }
        phone.server.with { $0.weather = .away }
        _ = await manager.purchase("pro.monthly")
        #expect(phone.lines.all.contains("subscription: transaction 1001 is handed in later: ServerFault, network"))
        #expect(manager.isSubscribed)
    }

    @Test("restore what the store has verified, and nothing else")
    func restoresVerified() async {
        await phone.launch()
        phone.store.with { shelf in
            shelf.sell("pro.monthly", to: StatusSamples.token)
            let claimed = StatusSamples.transaction(7, of: "7", "lifetime", until: nil)
            shelf.held.append(.unverified(claimed, reason: "bad signature"))
        }
        guard case .restored(1) = await manager.restorePurchases() else {
            Issue.record("it is not restored")
            return
        }
        #expect(manager.purchasedProductIds == ["pro.monthly"])
        #expect(phone.store.with { $0.finished } == ["1001"])
    }

    @Test("log each change of the account by its block: active, until when, by which plan")
    func blocks() async {
        await granted()
        phone.pass(11 * Self.day)
        await manager.refreshSubscriptionStatus()
        let blocks = phone.lines.all.filter { $0.hasPrefix("📊 Subscription Status:") }
        #expect(blocks.map { $0.contains("Has Active Subscription: true") } == [true, false])
        #expect(blocks[0].contains("Expiry Date: \(Self.end.description)"))
    }
}
