import Accounts
import Base
import Foundation
import Pipeline
import StorehookClient
import StorehookClientTesting
import TestSupport

@testable import Simulation

/// One customer with an app on a device: what the app does by chance, and whether it allows what it should.
@MainActor final class ClientLife {
    /// How long access goes on after its end while the server cannot be asked, in seconds.
    let grace: TimeInterval

    let name: String
    var figures = LifeFigures()
    /// When the app does something next.
    private(set) var next: Milliseconds
    private(set) var wrongs: [String] = []
    let site: LivesSite
    let network: LivesNetwork
    private let phone: LivesPhone
    private let cache = LivesCache()
    private let api: AccountAPI
    private let faults = StandInFaults()
    /// Who uses the App Store on the device. Another customer is another device of the same account: its App Store holds nothing, so that
    /// the server's word alone counts.
    private let customer: String
    private var chance: TestSupport.SeededGenerator
    private(set) var manager: SubscriptionManager
    private(set) var store: LivesStore
    private(set) var time: LivesTime
    var story: [String] = []

    init(_ seed: UInt64, in site: LivesSite) async throws {
        let (name, birth) = await site.add(seed)
        self.name = name
        self.site = site
        chance = TestSupport.SeededGenerator(seed: seed)
        next = birth - .hours(2)
        network = LivesNetwork(seed: seed, clock: site.clock)
        phone = LivesPhone(site.clock)
        let signer = site.shop.api.signer
        api = AccountAPI(baseURL: site.apiURL, languages: ["en"], transport: network) {
            try await signer.token(of: name)
        }
        time = LivesTime(phone.wall, at: site.now)
        grace = TimeInterval((seed / 10 % 2 == 0 ? 3 : 12) * 86_400)
        customer = seed % 3 == 0 ? "\(name)-tablet" : name
        (manager, store) = Self.app(customer, site, api, cache, grace, phone, faults)
    }

    /// The app as it is started: nothing is left of the launch before but what its device keeps.
    private static func app(
        _ customer: String, _ site: LivesSite, _ api: AccountAPI, _ cache: LivesCache, _ grace: TimeInterval,
        _ phone: LivesPhone, _ faults: StandInFaults
    ) -> (SubscriptionManager, LivesStore) {
        let store = LivesStore(
            StandInSource(
                url: site.storeURL, customer: customer, environment: "Production", interval: nil, faults: faults))
        return (SubscriptionManager(api: api, source: store, cache: cache, grace: grace, clock: phone), store)
    }

    // MARK: - Acts

    /// Does what is due, and judges what the app allows then.
    func act() async throws {
        figures.acts += 1
        _ = network.takeCounts()
        let dated = network.heard.dated
        let what = await doSomething()
        time.pass(to: site.now, wall: phone.wall, isSet: network.heard.dated != dated)
        let counts = network.takeCounts()
        figures.failures += counts.failures
        try await judge(after: what, isOnline: counts.failures == 0 && counts.answers > 0 && what.asks)
        let wait: ClosedRange<Int64> = Int.random(in: 0..<4, using: &chance) == 0 ? 60...7200 : 7200...400_000
        next = site.now + Int64.random(in: wait, using: &chance) * 1000
    }

    struct Act: CustomStringConvertible {
        var description: String
        /// Whether it asks the server about the account.
        var asks = true
    }

    private func doSomething() async -> Act {
        switch Int.random(in: 0..<100, using: &chance) {
        case 0..<30: return await launch()
        case 30..<55:
            await manager.refreshSubscriptionStatus()
            return Act(description: "refresh")
        case 55..<67:
            await store.look()
            return Act(description: "look", asks: false)
        case 67..<75:
            network.weather = [.fine, .bad, .offline, .offline].randomElement(using: &chance) ?? .fine
            return Act(description: "\(network.weather)", asks: false)
        case 75..<81: return await buy()
        case 81..<85:
            _ = await manager.restorePurchases()
            return Act(description: "restore", asks: false)
        case 85..<89:
            let point = StandInFaults.Point.allCases.randomElement(using: &chance) ?? .finish
            faults.cut(point, Bool.random(using: &chance) ? .before : .after)
            return await launch()
        case 89..<93:
            phone.ahead = TimeInterval([-30 * 86_400, -3600, 0, 0, 5 * 86_400].randomElement(using: &chance) ?? 0)
            return Act(description: "clock \(phone.ahead)", asks: false)
        case 93..<94:
            cache.damage()
            network.forget()
            time.forget()
            return await launch()
        case 94..<97: return await block()
        default: return Act(description: "nothing", asks: false)
        }
    }

    private func launch() async -> Act {
        figures.launches += 1
        time.launch(phone.wall, at: site.now)
        (manager, store) = Self.app(customer, site, api, cache, grace, phone, faults)
        await manager.signIn(accountID: name)
        await manager.start()
        return Act(description: "launch")
    }

    private func buy() async -> Act {
        let products = ["basic.weekly", "basic.monthly", "premium.monthly", "lifetime.unlock"]
        let product = products[Int.random(in: 0..<products.count, using: &chance)]
        _ = await manager.purchase("com.example.storehook.\(product)")
        figures.purchases += 1
        return Act(description: "buy \(product)", asks: false)
    }

    /// Staff take the account's access away, or give it back.
    private func block() async -> Act {
        let kind: StaffAct.Kind = Bool.random(using: &chance) ? .revoke : .unrevoke
        let isDone =
            (try? await site.pipeline.act(kind, for: AccountIdentity(named: name), by: "test", why: "test")) != nil
        return Act(description: isDone ? "staff \(kind)" : "staff did nothing", asks: false)
    }

    func wrong(_ what: String) {
        let access = manager.state.access
        wrongs.append("\(name) at \(site.now): \(what); \(access)\n" + story.suffix(12).joined(separator: "\n"))
    }
}
