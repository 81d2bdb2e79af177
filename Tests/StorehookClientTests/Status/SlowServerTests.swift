import Foundation
import Testing

@testable import StorehookClient

@MainActor
@Suite("A customer whose server does not answer")
struct SlowServerTests {
    private let phone = StatusPhone()

    @Test("has what the store holds before a transaction is handed in")
    func heldFirst() async {
        phone.store.with { _ = $0.sell("pro.monthly", to: StatusSamples.token) }
        let gate = Gate()
        phone.server.hold("account") { await gate.wait() }
        await phone.manager.signIn(accountID: "alice")
        let start = Task { await phone.manager.start() }
        await gate.arrived()
        #expect(phone.manager.isSubscribed)
        await gate.open()
        await start.value
        phone.manager.signOut()
    }

    @Test("has the grace from the end on, until the server has answered")
    func graceWhileAsking() async {
        phone.server.with { $0.grants["alice"] = MovedClock.start + 3600 }
        await phone.launch()
        phone.clock.pass(7200)
        #expect(phone.manager.isSubscribed, "the app has slept over the end")
        let gate = Gate()
        phone.server.hold("status") { await gate.wait() }
        let active = Task { await phone.manager.appBecameActive() }
        await gate.arrived()
        #expect(phone.manager.isSubscribed, "while it is asked")
        phone.server.with { $0.now = phone.clock.now }
        phone.server.hold("status", nil)
        await gate.open()
        await active.value
        await phone.manager.refreshSubscriptionStatus()
        #expect(!phone.manager.isSubscribed, "the server has answered")
        phone.manager.signOut()
    }

    @Test("waits for one request, however many transactions are unfinished")
    func manyUnfinished() async {
        for _ in 0..<12 { phone.store.with { _ = $0.sell("pro.monthly", to: StatusSamples.token, of: "900") } }
        phone.server.with { $0.weather = .away }
        await phone.launch()
        #expect(phone.server.with { $0.asked } == 2, "one of them, and the status")
        phone.manager.signOut()
    }

    @Test("gets an error in time where the app's own login does not answer")
    func silentLogin() async throws {
        let gate = Gate()
        var api = AccountAPI(
            baseURL: try #require(URL(string: "https://storehook.example")), transport: ScriptedTransport([])
        ) {
            // A login that takes no notice of being cancelled.
            await gate.wait()
            return "token"
        }
        api.patience = 0.05
        await #expect(throws: ClientError.network) { try await api.account() }
        await gate.open()
    }

    @Test("has bought also where the view is gone that asked for it")
    func cancelledView() async {
        await phone.launch()
        let gate = Gate()
        phone.server.hold("verify") { await gate.wait() }
        let view = Task { await phone.manager.purchase("pro.monthly") }
        await gate.arrived()
        view.cancel()
        await gate.open()
        #expect(await view.value == .purchased)
        #expect(phone.store.with { $0.finished } == ["1001"])
        phone.manager.signOut()
    }
}
