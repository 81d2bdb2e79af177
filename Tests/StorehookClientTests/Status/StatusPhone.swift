import Foundation

@testable import StorehookClient

/// A device with a store and a cache, a server, and what a test moves.
@MainActor
final class StatusPhone {
    nonisolated static func token(of account: String) -> UUID {
        account == "alice" ? StatusSamples.token : UUID(uuidString: "00000000-0000-4000-8000-0000000000B0") ?? UUID()
    }

    nonisolated static var catalog: Catalog {
        let products = ["pro.monthly": "pro", "basic.monthly": "basic", "lifetime": "pro"]
        return Catalog(
            products: ["pro.monthly", "basic.monthly", "lifetime"].enumerated().map { place, id in
                CatalogProduct(
                    bundleID: "com.example", features: [], id: id, isPopular: false, name: id, period: .month,
                    productID: id, sortOrder: Int64(place), tier: products[id] ?? "", tierName: "")
            }, tiers: ["free", "basic", "pro", "max"].map { CatalogTier(features: [], name: $0, tier: $0) },
            trial: TrialEligibility(eligible: false, reason: nil))
    }

    static let grace: TimeInterval = 3 * 86_400

    let clock = MovedClock()
    let server = FakeStatusServer()
    let store = FakeStore()
    let cache = MemoryCache()
    let lines = Lines()
    private(set) var manager: SubscriptionManager

    /// What the app's log has.
    final class Lines: @unchecked Sendable {
        // Guarded by the lock.
        private var lines: [String] = []
        private let lock = NSLock()
        var all: [String] { lock.withLock { lines } }
        func add(_ line: String) { lock.withLock { lines.append(line) } }
    }

    init() {
        manager = SubscriptionManager(
            server: server, source: store, cache: cache, grace: Self.grace, clock: clock, log: lines.add)
    }

    /// Starts the app: nothing is left of the process before but what the device keeps.
    func launch(as account: String = "alice") async {
        manager.signOutOfMemory()
        clock.reboot()
        manager = SubscriptionManager(
            server: server, source: store, cache: cache, grace: Self.grace, clock: clock, log: lines.add)
        await manager.signIn(accountID: account)
        await manager.start()
    }

    func pass(_ seconds: TimeInterval) {
        clock.pass(seconds)
        server.with { $0.now = clock.now }
        store.with { $0.now = clock.now }
    }

    var access: SubscriptionManager.Access { manager.state.access }

    /// What the server was asked to report.
    func reports() async -> [String] {
        await manager.turn.reporting?.value
        return server.with { $0.reports }.map { "\($0.kind) \($0.outcome)" }
    }

    /// Waits until something holds that other tasks bring about.
    func until(_ condition: @MainActor () -> Bool) async -> Bool {
        for _ in 0..<100_000 {
            if condition() { return true }
            await Task.yield()
        }
        return condition()
    }
}

extension SubscriptionManager {
    /// Ends what a process had under way, and leaves its cache.
    func signOutOfMemory() { turn.cancel() }
}
