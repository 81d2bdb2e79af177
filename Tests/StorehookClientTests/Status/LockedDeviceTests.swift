import Foundation
import Testing

@testable import StorehookClient

@MainActor
@Suite("An app that starts while the device is locked")
struct LockedDeviceTests {
    private let phone = StatusPhone()

    @Test("leaves the kept status as it is, and reads it once the device is unlocked")
    func status() async {
        phone.server.with { $0.grants["alice"] = MovedClock.start + 30 * StatusSamples.day }
        await phone.launch()
        #expect(phone.manager.isSubscribed)
        phone.server.with { $0.weather = .away }
        let kept = phone.cache.data
        phone.cache.isClosed = true
        await phone.launch()
        #expect(!phone.manager.isSubscribed && phone.cache.data == kept)
        phone.cache.isClosed = false
        phone.clock.pass(120)
        #expect(phone.manager.now > MovedClock.start && phone.cache.data == kept)
        await phone.manager.appBecameActive()
        #expect(phone.manager.isSubscribed)
        await phone.launch()
        #expect(phone.manager.isSubscribed, "in the next process, too")
        phone.manager.signOut()
    }

    @Test("keeps the reports of use that waited, before those that are counted meanwhile")
    func usage() async {
        let device = UsageDevice()
        device.server.with { $0.network = .down }
        let before = device.launch()
        for _ in 0..<3 { before.count("ai_explain") }
        let waiting = before.state.waiting
        #expect(waiting == 3)
        device.cache.isClosed = true
        let locked = device.launch()
        locked.count("ai_explain")
        #expect(locked.state.waiting == 1)
        device.cache.isClosed = false
        #expect(locked.state.waiting == 4)
        #expect(device.launch().state.waiting == 4, "in the next process, too")
    }

    @Test("has a cache of an earlier release, which lacks what came since")
    func earlierRelease() throws {
        let known = try JSONDecoder().decode(
            KnownStatus.self, from: Data(#"{"accountID": "alice", "highest": 800000000}"#.utf8))
        #expect(known.accountID == "alice" && known.takenBack == [] && known.accepted == [])
        let ledger = try JSONDecoder().decode(UsageLedger.self, from: Data(#"{"account": "alice"}"#.utf8))
        #expect(ledger == UsageLedger(account: "alice"))
    }
}
