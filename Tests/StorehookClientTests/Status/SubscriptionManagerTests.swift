import Foundation
import Testing

@testable import StorehookClient

@MainActor
@Suite("The manager of an account's subscription", .timeLimit(.minutes(5)))
struct SubscriptionManagerTests {
    private let phone = StatusPhone()
    private static let day = StatusSamples.day

    // MARK: Delivering

    @Test("A purchase is verified before it is finished, with the account's token, and reported")
    func purchase() async {
        await phone.launch()
        let store = phone.store
        phone.server.hold("verify") { #expect(store.with { $0.finished }.isEmpty) }
        #expect(await phone.manager.purchase("pro.monthly").succeeded)
        #expect(phone.store.with { $0.bought } == [StatusSamples.token])
        #expect(phone.server.with { $0.verified } == ["1001"])
        #expect(phone.store.with { $0.finished } == ["1001"])
        #expect(phone.access.allowed)
        #expect(phone.manager.isPurchased("pro.monthly"))
        #expect(await phone.reports() == ["purchase completed"])
    }

    @Test("A transaction that comes three ways at once is verified and finished once")
    func once() async throws {
        await phone.launch()
        let held = AsyncStream.makeStream(of: Void.self)
        phone.server.hold("verify") { for await _ in held.stream { return } }
        let sold = phone.store.with { $0.sell("pro.monthly", to: StatusSamples.token) }
        phone.store.post(.verified(sold))
        phone.store.with { $0.outcome = .success(.verified(sold)) }
        async let bought = phone.manager.purchase("pro.monthly")
        async let read: Void = phone.manager.refreshSubscriptionStatus()
        #expect(await phone.until { phone.server.with { !$0.verified.isEmpty } })
        for _ in 0..<100 { await Task.yield() }
        held.continuation.finish()
        phone.server.hold("verify", nil)
        #expect(await bought.succeeded)
        await read
        #expect(phone.server.with { $0.verified } == [sold.id])
        #expect(phone.store.with { $0.finished } == [sold.id])
    }

    @Test("What ended between purchase, verifying and finishing is finished at the next start, and verified once")
    func killed() async {
        await phone.launch()
        phone.server.with { $0.weather = .away }
        #expect(await phone.manager.purchase("pro.monthly").succeeded)
        #expect(phone.store.with { $0.finished }.isEmpty)
        phone.server.with { $0.weather = .fine }
        phone.store.with { $0.failsToFinish = true }
        await phone.launch()
        #expect(phone.server.with { $0.verified } == ["1001"])
        #expect(phone.store.with { $0.finished }.isEmpty)
        phone.store.with { $0.failsToFinish = false }
        await phone.launch()
        #expect(phone.server.with { $0.verified } == ["1001"])
        #expect(phone.store.with { $0.finished } == ["1001"])
    }

    @Test("A server whose answer was lost is asked again, and accepts again")
    func lostAnswer() async {
        await phone.launch()
        phone.server.hold("verify") { [server = phone.server] in server.with { $0.weather = .lost } }
        _ = await phone.manager.purchase("pro.monthly")
        #expect(phone.store.with { $0.finished }.isEmpty)
        #expect(phone.access.allowed, "the store holds it")
        phone.server.hold("verify", nil)
        phone.server.with { $0.weather = .fine }
        await phone.manager.refreshSubscriptionStatus()
        #expect(phone.store.with { $0.finished } == ["1001"])
    }

    @Test("What is another account's allows nothing, is not finished, and is sent once more at the next start")
    func refused() async {
        phone.store.with { $0.sell("pro.monthly", to: StatusPhone.token(of: "bob")) }
        phone.store.with { $0.sell("pro.monthly", to: nil) }
        phone.server.with { $0.owners["1002"] = "bob" }
        await phone.launch()
        await phone.manager.refreshSubscriptionStatus()
        #expect(phone.server.with { $0.verified } == ["1001", "1002"])
        #expect(phone.store.with { $0.finished }.isEmpty)
        #expect(phone.access == .init())
        // Offline, after a restart, it allows nothing either.
        phone.server.with { $0.weather = .away }
        await phone.launch()
        #expect(phone.access == .init())
        phone.server.with { $0.weather = .fine }
        await phone.launch()
        #expect(phone.server.with { $0.verified } == ["1001", "1002", "1001", "1002"])
        // The account that it is of gets it.
        phone.server.with { $0.caller = "bob" }
        await phone.launch(as: "bob")
        #expect(phone.access.allowed)
        #expect(phone.store.with { $0.finished } == ["1001", "1002"])
    }

    @Test("A purchase that the server refuses is no success")
    func refusedPurchase() async {
        await phone.launch()
        phone.server.with { $0.owners["1001"] = "bob" }
        #expect(await phone.manager.purchase("pro.monthly").succeeded == false)
        #expect(phone.access == .init())
        #expect(phone.manager.error != nil)
        #expect(await phone.reports() == ["purchase failed"])
    }

    @Test("What the server rejects is not finished, not sent again in this turn, and reported")
    func rejected() async {
        phone.store.with { $0.sell("pro.monthly", to: StatusSamples.token) }
        phone.server.with { $0.rejected = ["1001"] }
        await phone.launch()
        await phone.manager.refreshSubscriptionStatus()
        #expect(phone.server.with { $0.verified } == ["1001"])
        #expect(phone.store.with { $0.finished }.isEmpty)
        #expect(await phone.reports() == ["purchase failed"])
    }

    @Test("What the server finds not to be signed by Apple gives nothing, offline and after a restart too")
    func unproven() async {
        phone.store.with { $0.sell("pro.monthly", to: StatusSamples.token) }
        phone.server.with { $0.unproven = ["1001"] }
        await phone.launch()
        #expect(phone.access == .init() && phone.store.with { $0.finished }.isEmpty)
        phone.server.with { $0.weather = .away }
        await phone.launch()
        #expect(phone.access == .init())
        // The server was mistaken: it is asked anew at each start.
        phone.server.with { $0.unproven = [] }
        phone.server.with { $0.weather = .fine }
        await phone.launch()
        #expect(phone.access.allowed && phone.store.with { $0.finished } == ["1001"])
        #expect(phone.server.with { $0.verified } == ["1001", "1001"])
    }

    @Test("What the device could not verify gives nothing, is reported once, and neither sent nor finished")
    func unverified() async {
        let claimed = StatusSamples.transaction()
        let result = StoreResult.unverified(claimed, reason: "bad signature")
        phone.store.with { $0.held = [result] }
        phone.store.with { $0.unfinished = [result] }
        await phone.launch()
        await phone.manager.refreshSubscriptionStatus()
        #expect(phone.access == .init())
        #expect(phone.server.with { $0.verified }.isEmpty)
        #expect(phone.store.with { $0.finished }.isEmpty)
        #expect(await phone.reports() == ["purchase failed"])
        #expect(phone.lines.all.contains { $0.contains("bad signature") })
        phone.store.with { $0.outcome = .success(.unverified(nil, reason: "no signature")) }
        #expect(await phone.manager.purchase("pro.monthly").succeeded == false)
        #expect(await phone.reports() == ["purchase failed", "purchase failed"])
        #expect(phone.server.with { $0.verified }.isEmpty)
    }

    @Test("What comes by itself is verified, finished and counts")
    func updates() async {
        await phone.launch()
        let sold = phone.store.with { $0.sell("pro.monthly", to: StatusSamples.token) }
        phone.store.post(.verified(sold))
        #expect(await phone.until { phone.access.allowed })
        #expect(await phone.until { phone.store.with { $0.finished } == [sold.id] })
    }

    @Test("What the store holds and the server lacks is handed in at once, and not finished again")
    func lacking() async {
        phone.store.with { $0.sell("pro.monthly", to: nil) }
        phone.store.with { $0.unfinished = [] }
        await phone.launch()
        #expect(phone.server.with { $0.verified } == ["1001"])
        #expect(phone.server.with { $0.status(of: "alice").hasAccess })
        #expect(phone.store.with { $0.finished }.isEmpty)
        await phone.manager.refreshSubscriptionStatus()
        await phone.launch()
        #expect(phone.server.with { $0.verified } == ["1001"])
    }

    @Test("Cancelled and pending purchases change nothing, and are reported")
    func attempts() async {
        await phone.launch()
        phone.store.with { $0.outcome = .cancelled }
        #expect(await phone.manager.purchase("pro.monthly").succeeded == false)
        #expect(phone.manager.error == nil)
        phone.store.with { $0.outcome = .pending }
        #expect(await phone.manager.purchase("pro.monthly").succeeded == false)
        phone.store.with { $0.isAway = true }
        #expect(await phone.manager.purchase("pro.monthly").succeeded == false)
        #expect(phone.manager.error != nil)
        #expect(await phone.reports() == ["purchase cancelled", "purchase pending", "purchase failed"])
        #expect(phone.access == .init())
    }

    // MARK: Restoring

    @Test("Restoring hands in all that the store holds, finishes it, and is reported")
    func restore() async {
        await phone.launch()
        #expect(await phone.manager.restorePurchases().succeeded == false)
        phone.store.with { $0.sell("pro.monthly", to: nil) }
        let result = await phone.manager.restorePurchases()
        guard case .restored(1) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(phone.access.allowed)
        #expect(phone.store.with { $0.finished } == ["1001"])
        #expect(phone.store.with { $0.syncs } == 2)
        phone.store.with { $0.isSyncCancelled = true }
        #expect(await phone.manager.restorePurchases().succeeded == false)
        #expect(await phone.reports() == ["restore nothing", "restore completed", "restore cancelled"])
    }

    @Test("Restoring what is another account's fails, and allows nothing")
    func restoreRefused() async {
        phone.server.with { $0.owners["1001"] = "bob" }
        phone.store.with { $0.sell("pro.monthly", to: nil) }
        await phone.launch()
        #expect(await phone.manager.restorePurchases().succeeded == false)
        #expect(phone.access == .init())
        #expect(phone.store.with { $0.finished }.isEmpty)
    }
}
