import Foundation
import Testing

@testable import StorehookClient

@MainActor
@Suite("What was taken back")
struct TakenBackTests {
    private let phone = StatusPhone()

    @Test(
        "by the store is handed in and finished once more under its id, and gives nothing before the server knows",
        arguments: [false, true])
    func byStore(isOffline: Bool) async {
        await phone.launch()
        _ = await phone.manager.purchase("pro.monthly")
        #expect(phone.manager.isSubscribed && phone.server.with { $0.verified } == ["1001"])
        var refunded = phone.store.with { $0.sold[0] }
        refunded.revokedAt = phone.clock.now
        let result = StoreResult.verified(refunded)
        phone.store.with { ($0.held, $0.unfinished) = ([], [result]) }
        if isOffline { phone.server.with { $0.weather = .away } }
        await phone.manager.refreshSubscriptionStatus()
        if isOffline {
            #expect(!phone.manager.isSubscribed)
            await phone.launch()
            #expect(!phone.manager.isSubscribed, "also in the next process")
            phone.server.with { $0.weather = .fine }
            await phone.manager.refreshSubscriptionStatus()
        }
        #expect(phone.server.with { $0.verified } == ["1001", "1001"])
        #expect(phone.store.with { $0.finished } == ["1001", "1001"])
        #expect(phone.manager.known?.takenBack == [], "the server knows")
        phone.manager.signOut()
    }

    @Test("by the store, and given back by it, gives access again")
    func givenBack() async {
        await phone.launch()
        _ = await phone.manager.purchase("pro.monthly")
        let sold = phone.store.with { $0.sold[0] }
        var refunded = sold
        refunded.revokedAt = phone.clock.now
        phone.server.with { $0.weather = .away }
        phone.manager.note(refunded)
        phone.store.with { $0.held = [] }
        await phone.manager.refreshSubscriptionStatus()
        #expect(!phone.manager.isSubscribed)
        phone.manager.note(sold)
        #expect(phone.manager.isSubscribed)
        phone.manager.signOut()
    }

    @Test("in the past takes nothing from what is bought while the server is away")
    func boughtSince() async {
        await phone.launch()
        _ = await phone.manager.purchase("pro.monthly")
        phone.server.with { world in
            world.refunded = ["1001"]
            world.version += 1
        }
        phone.store.with { $0.held = [] }
        await phone.manager.refreshSubscriptionStatus()
        #expect(!phone.manager.isSubscribed)
        phone.pass(1)
        phone.server.with { $0.weather = .away }
        #expect(await phone.manager.purchase("basic.monthly") == .purchased)
        #expect(phone.manager.isSubscribed)
        phone.manager.signOut()
    }
}
