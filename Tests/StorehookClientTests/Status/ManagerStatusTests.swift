import Foundation
import Testing

@testable import StorehookClient

@MainActor
@Suite("What the manager knows offline, for the account that is signed in", .timeLimit(.minutes(5)))
struct ManagerStatusTests {
    private let phone = StatusPhone()
    private static let day = StatusSamples.day

    /// A server's grant that ends in ten days: the store holds nothing.
    private func granted() async {
        phone.server.with { $0.grants["alice"] = StatusSamples.now + 10 * Self.day }
        await phone.launch()
        #expect(phone.access.basis == .server)
    }

    // MARK: Offline

    @Test("Offline it goes on until the cached end and the grace, restarts included, and not after")
    func offline() async {
        await granted()
        phone.server.with { $0.weather = .away }
        phone.pass(10 * Self.day - 1)
        await phone.launch()
        #expect(
            phone.access == .init(allowed: true, tier: "pro", until: StatusSamples.now + 10 * Self.day, basis: .cache))
        phone.pass(StatusPhone.grace)
        #expect(phone.access.allowed)
        await phone.manager.refreshSubscriptionStatus()
        #expect(phone.access.allowed)
        phone.pass(1)
        #expect(phone.access == .init())
        await phone.launch()
        #expect(phone.access == .init())
        #expect(phone.manager.isSubscriptionExpired)
    }

    @Test("Online there is no grace")
    func online() async {
        await granted()
        phone.pass(10 * Self.day)
        await phone.manager.refreshSubscriptionStatus()
        #expect(phone.access == .init())
        #expect(phone.manager.isSubscriptionExpired)
    }

    @Test("A clock that is set back gains nothing, restarts included")
    func clockSetBack() async {
        await granted()
        phone.server.with { $0.weather = .away }
        phone.pass(13 * Self.day + 1)
        #expect(phone.access == .init())
        phone.clock.set(-12 * Self.day)
        #expect(phone.access == .init())
        await phone.launch()
        #expect(phone.access == .init())
        await phone.launch()
        #expect(phone.access == .init())
    }

    @Test("A store's entitlement that has ended gains nothing by a clock that is set back")
    func storeClock() async {
        await phone.launch()
        _ = await phone.manager.purchase("pro.monthly")
        phone.server.with { $0.weather = .away }
        phone.clock.pass(34 * Self.day)
        _ = phone.access
        phone.clock.set(-34 * Self.day)
        await phone.launch()
        #expect(phone.access == .init())
    }

    @Test("A clock that is ahead locks no customer out who is online")
    func clockAhead() async {
        phone.clock.set(100 * Self.day)
        await granted()
        #expect(phone.access.allowed)
        phone.pass(Self.day)
        #expect(phone.access.allowed)
    }

    @Test("An answer that cannot be read keeps the cached status")
    func unreadableAnswer() async {
        await granted()
        phone.server.with { $0.weather = .unreadable }
        await phone.launch()
        #expect(phone.access.allowed)
        #expect(phone.access.basis == .cache)
        #expect(phone.manager.error != nil)
        #expect(phone.manager.hasCompletedInitialScan)
    }

    @Test(
        "A cache that cannot be read is free, until the server is asked",
        arguments: ["{", "[]", "{\"accountID\":\"alice\"}"])
    func unreadableCache(text: String) async {
        await granted()
        phone.cache.data = Data(text.utf8)
        phone.server.with { $0.weather = .away }
        await phone.launch()
        #expect(phone.access == .init())
        phone.cache.data = Data(text.utf8)
        let manager = SubscriptionManager(
            server: phone.server, source: phone.store, cache: phone.cache, grace: StatusPhone.grace, clock: phone.clock)
        await manager.signIn(accountID: "alice")
        #expect(manager.error == .unreadableCache)
        phone.server.with { $0.weather = .fine }
        await phone.launch()
        #expect(phone.access.allowed)
    }

    @Test("What the server has taken back stays so, offline and after a restart")
    func takenBack() async {
        await phone.launch()
        _ = await phone.manager.purchase("pro.monthly")
        #expect(phone.access.basis == .store)
        phone.server.with { _ = $0.refunded.insert("1001") }
        await phone.manager.refreshSubscriptionStatus()
        #expect(phone.access == .init())
        phone.server.with { $0.weather = .away }
        await phone.launch()
        #expect(phone.access == .init())
        // A new purchase is heard of at once.
        phone.server.with { $0.weather = .fine }
        #expect(await phone.manager.purchase("pro.monthly").succeeded)
        #expect(phone.access.allowed)
        phone.server.with { _ = $0.blocked.insert("alice") }
        await phone.manager.appBecameActive()
        #expect(phone.access == .init())
    }

    @Test("The cache holds no signed transaction, no receipt and no token of the login")
    func cacheContent() async throws {
        await phone.launch()
        _ = await phone.manager.purchase("pro.monthly")
        let text = try #require(phone.cache.data.map { String(decoding: $0, as: UTF8.self) })
        #expect(text.contains("1001"))
        for word in ["signed.", "renewal.", "secret", "Bearer"] { #expect(!text.contains(word)) }
    }

    // MARK: Accounts

    @Test("Signing out forgets, on the device too")
    func signOut() async {
        await granted()
        phone.manager.signOut()
        #expect(phone.manager.state.accountID == nil)
        #expect(phone.access == .init())
        #expect(phone.cache.data == nil)
        phone.server.with { $0.weather = .away }
        await phone.launch()
        #expect(phone.access == .init())
    }

    @Test("Another account gets nothing of the one before")
    func otherAccount() async {
        await granted()
        phone.server.with { $0.weather = .away }
        await phone.manager.signIn(accountID: "bob")
        #expect(phone.access == .init())
        await phone.manager.start()
        #expect(phone.access == .init())
    }

    @Test("An answer that comes after a change of account is dropped", arguments: ["status", "account", "verify"])
    func lateAnswer(path: String) async {
        phone.server.with { $0.grants["alice"] = StatusSamples.now + 10 * Self.day }
        let held = AsyncStream.makeStream(of: Void.self)
        await phone.manager.signIn(accountID: "alice")
        if path == "verify" { phone.store.with { $0.sell("pro.monthly", to: nil) } }
        phone.server.hold(path) { for await _ in held.stream { return } }
        let manager = phone.manager
        let late = Task { await manager.start() }
        #expect(await phone.until { phone.server.with { $0.asked } > (path == "account" ? 0 : 1) })
        phone.store.with { $0.held = [] }
        manager.signOut()
        await manager.signIn(accountID: "bob")
        held.continuation.finish()
        await late.value
        for _ in 0..<1000 { await Task.yield() }
        #expect(manager.state.accountID == "bob")
        #expect(phone.access == .init())
        #expect(manager.known?.answer == nil)
        #expect(manager.known?.accepted == [])
    }

    @Test("An answer about another account than the one signed in is dropped")
    func otherToken() async {
        phone.server.with { $0.caller = "bob" }
        phone.server.with { $0.grants["bob"] = StatusSamples.now + 10 * Self.day }
        await phone.launch(as: "alice")
        #expect(phone.access == .init())
        #expect(phone.manager.error != nil)
    }

    @Test("A UUID is the same account in either letter case")
    func letterCase() {
        let id = "0B8C9D9E-5A3A-4F0B-9B7C-AAAAAAAAAAAA"
        #expect(SubscriptionManager.isSame(id, id.lowercased()))
        #expect(!SubscriptionManager.isSame("Alice", "alice"))
    }

    // MARK: When it asks

    @Test("It asks at the start, every five minutes, and when the app becomes active")
    func interval() async {
        await phone.launch()
        #expect(await phone.until { phone.clock.sleeping == 1 })
        #expect(phone.clock.naps == [300])
        let asked = phone.server.with { $0.asked }
        #expect(asked > 0 && phone.manager.hasCompletedInitialScan)
        phone.pass(300)
        phone.clock.wake()
        #expect(await phone.until { phone.clock.naps.count == 2 })
        #expect(phone.server.with { $0.asked } > asked)
        let again = phone.server.with { $0.asked }
        await phone.manager.appBecameActive()
        #expect(phone.server.with { $0.asked } > again)
        phone.manager.signOut()
        #expect(await phone.until { phone.clock.sleeping == 0 })
    }

    @Test("It asks at an end that comes sooner, and sooner again after a failure, ever more rarely")
    func waits() async {
        phone.server.with { $0.grants["alice"] = StatusSamples.now + 100 }
        await phone.launch()
        #expect(await phone.until { phone.clock.naps == [100] })
        phone.server.with { $0.weather = .away }
        for nap in [5.0, 10, 20, 40, 80, 160, 300, 300] {
            phone.clock.wake()
            #expect(await phone.until { phone.clock.naps.last == nap && phone.clock.sleeping == 1 })
        }
    }

    @Test("Calls during a pass wait for that one")
    func coalesces() async {
        await phone.launch()
        let asked = phone.server.with { $0.asked }
        async let one: Void = phone.manager.refreshSubscriptionStatus()
        async let two: Void = phone.manager.checkSubscriptionStatus()
        _ = await (one, two)
        #expect(phone.server.with { $0.asked } == asked + 1)
    }

    // MARK: What it states

    @Test("Products come in the catalog's order, when they are asked for")
    func products() async {
        await phone.launch()
        #expect(phone.manager.products.isEmpty)
        await phone.manager.loadProducts()
        #expect(phone.manager.products.map(\.id) == ["pro.monthly", "basic.monthly", "lifetime"])
        #expect(phone.manager.product(for: "lifetime")?.displayPrice == "$1")
        #expect(phone.manager.product(for: "other") == nil)
        phone.store.with { $0.isAway = true }
        await phone.manager.loadProducts()
        #expect(phone.manager.error != nil)
        #expect(phone.manager.products.count == 3)
    }

    @Test("The log gets the block of the status after each scan")
    func block() async {
        await granted()
        #expect(
            phone.lines.all.last == """
                📊 Subscription Status:
                  Has Active Subscription: true
                  Expiry Date: \((StatusSamples.now + 10 * Self.day).description)
                  Plan Type: none
                """)
    }

    @Test("States arrive as they change, and say what is ending soon")
    func states() async {
        await granted()
        #expect(!phone.manager.isSubscriptionExpiringSoon)
        // Seven days before the end, and not a moment earlier.
        phone.pass(3 * Self.day - 1)
        #expect(!phone.manager.isSubscriptionExpiringSoon)
        phone.pass(1)
        #expect(phone.manager.isSubscriptionExpiringSoon && phone.manager.isSubscribed)
        var states = phone.manager.states.makeAsyncIterator()
        #expect(await states.next()?.isSubscribed == true)
        phone.manager.signOut()
        #expect(await states.next()?.accountID == nil)
    }

    @Test("A file outlives its cache, and is replaced whole")
    func file() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("a/status")
        #expect(try FileStatusCache(url: url).load() == nil)
        try FileStatusCache(url: url).remove()
        try FileStatusCache(url: url).save(Data("one".utf8))
        try FileStatusCache(url: url).save(Data("two".utf8))
        #expect(try FileStatusCache(url: url).load() == Data("two".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path) == ["status"])
        try FileStatusCache(url: url).remove()
        #expect(try FileStatusCache(url: url).load() == nil)
        #expect(throws: (any Error).self) { try FileStatusCache(url: folder).load() }
    }
}
