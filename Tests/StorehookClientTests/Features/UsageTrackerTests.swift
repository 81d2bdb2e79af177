import Foundation
import Testing

@testable import StorehookClient

@Suite("The tracker of use", .timeLimit(.minutes(5)))
@MainActor
struct UsageTrackerTests {
    @Test(
        "counts at once while offline, and is closed at the limit: of 100 uses against 50 allowed 50 pass, and the server has 50"
    )
    func offline() async {
        let device = UsageDevice()
        device.server.with { $0.network = .down }
        let tracker = device.launch()
        let outcomes = (0..<100).map { _ in tracker.count("vocabulary") }
        #expect(outcomes.filter(\.isAllowed).count == 50)
        #expect(outcomes[0] == .counted(remaining: 49) && outcomes[49] == .counted(remaining: 0))
        #expect(outcomes[50] == .refused(.limitReached(limit: 50, resetsAt: nil, tier: "pro")))
        #expect(tracker.use(of: "vocabulary")?.used == 50 && tracker.state.waiting == 50)
        await tracker.synchronize()
        #expect(tracker.state.waiting == 50 && device.server.total(of: "vocabulary") == 0)
        device.server.with { $0.network = .up }
        await tracker.synchronize()
        #expect(device.server.total(of: "vocabulary") == 50 && device.server.with { $0.refused } == 0)
        #expect(tracker.state.waiting == 0 && tracker.use(of: "vocabulary")?.used == 50)
    }

    @Test("reports by itself after a use, in the order of the uses")
    func reports() async {
        let device = UsageDevice()
        let tracker = device.launch()
        tracker.count("vocabulary", amount: 3)
        tracker.release("vocabulary", amount: 1)
        tracker.set("vocabulary", to: 9)
        for await state in tracker.states where state.waiting == 0 { break }
        #expect(device.server.with { $0.arrived.map(\.act) } == [.add(3), .release(1), .set(9)])
        #expect(device.server.total(of: "vocabulary") == 9)
    }

    @Test("sends a report whose answer was lost again with its key, and counts it once")
    func lostAnswer() async {
        let device = UsageDevice()
        let tracker = device.launch()
        device.server.with { $0.network = .losingAnswers }
        tracker.count("ai_explain", amount: 2)
        await tracker.synchronize()
        await tracker.synchronize()
        #expect(tracker.state.waiting == 1)
        device.server.with { $0.network = .up }
        await tracker.synchronize()
        let keys = device.server.with { $0.arrived.map(\.key) }
        #expect(keys.count >= 3 && Set(keys).count == 1)
        #expect(device.server.total(of: "ai_explain") == 2 && tracker.use(of: "ai_explain")?.used == 2)
    }

    @Test("has counted before it returns: a process that ends then loses and doubles nothing")
    func killed() async {
        let device = UsageDevice()
        device.server.with { $0.network = .down }
        do {
            let tracker = device.launch()
            tracker.count("ai_explain", amount: 3)
        }
        let second = device.launch()
        #expect(second.use(of: "ai_explain")?.used == 3)
        #expect(
            second.count("ai_explain", amount: 3)
                == .refused(
                    .limitReached(
                        limit: 5, resetsAt: second.use(of: "ai_explain")?.resetsAt, tier: "pro")))
        // The server counts it, the answer is lost, and that process ends, too.
        device.server.with { $0.network = .losingAnswers }
        await second.synchronize()
        #expect(device.server.total(of: "ai_explain") == 3)
        device.server.with { $0.network = .up }
        let third = device.launch()
        #expect(third.use(of: "ai_explain")?.used == 3)
        await third.synchronize()
        #expect(device.server.total(of: "ai_explain") == 3 && third.use(of: "ai_explain")?.used == 3)
        #expect(third.state.waiting == 0)
    }

    @Test("takes the server's counts, also what other devices have used, and does not read them before all is sent")
    func reconciles() async {
        let device = UsageDevice()
        let tracker = device.launch()
        await tracker.synchronize()
        let before = device.server.with { $0.countings }
        device.server.with {
            $0.used["vocabulary"] = [nil: 40]
            $0.network = .losingAnswers
        }
        tracker.count("vocabulary", amount: 4)
        await tracker.synchronize()
        // The report was counted and the answer lost: reading counts now would count it twice here.
        #expect(device.server.with { $0.countings } == before)
        #expect(tracker.use(of: "vocabulary")?.used == 4)
        device.server.with { $0.network = .up }
        await tracker.synchronize()
        #expect(tracker.use(of: "vocabulary")?.used == 44)
        #expect(tracker.count("vocabulary", amount: 7).isAllowed == false)
    }

    @Test("drops what the server refuses, and has its count then")
    func refusedByServer() async {
        let device = UsageDevice()
        let tracker = device.launch()
        await tracker.synchronize()
        device.server.with { $0.used["vocabulary"] = [nil: 49] }
        #expect(tracker.count("vocabulary", amount: 5) == .counted(remaining: 45))
        tracker.count("vocabulary", amount: 1)
        await tracker.synchronize()
        #expect(device.server.with { $0.refused } == 1 && device.server.total(of: "vocabulary") == 50)
        #expect(tracker.state.waiting == 0 && tracker.use(of: "vocabulary")?.used == 50)
    }

    @Test("keeps what is counted while the server is asked")
    func meanwhile() async {
        let gate = Gate()
        let device = UsageDevice(beforeCounts: { await gate.wait() })
        let tracker = device.launch()
        let reading = Task { await tracker.synchronize() }
        await gate.arrived()
        device.server.with { $0.network = .down }
        tracker.count("vocabulary", amount: 6)
        device.server.with { $0.network = .up }
        await gate.open()
        await reading.value
        await tracker.synchronize()
        #expect(tracker.use(of: "vocabulary")?.used == 6 && device.server.total(of: "vocabulary") == 6)
    }

    @Test("begins anew with the day, and reports yesterday's uses for yesterday")
    func days() async {
        let device = UsageDevice()
        let tracker = device.launch()
        await tracker.synchronize()
        device.server.with { $0.network = .down }
        #expect((0..<7).filter { _ in tracker.count("ai_explain").isAllowed }.count == 5)
        device.pass(86_400)
        #expect(tracker.use(of: "ai_explain")?.used == 0)
        #expect((0..<7).filter { _ in tracker.count("ai_explain").isAllowed }.count == 5)
        device.server.with { $0.network = .up }
        await tracker.synchronize()
        #expect(device.server.with { $0.used["ai_explain"]?.values.sorted() } == [5, 5])
        #expect(tracker.use(of: "ai_explain")?.used == 5)
    }

    @Test("counts voice minutes by the month, and saved words and books without an end")
    func periods() async {
        let device = UsageDevice()
        device.tier = "pro"
        device.server.with { $0.tier = "pro" }
        let tracker = device.launch()
        await tracker.synchronize()
        tracker.count("voice_chat", amount: 30)
        tracker.count("vocabulary", amount: 10)
        tracker.count("offline_books", amount: 2)
        tracker.count("books_read")
        #expect(tracker.count("voice_chat").isAllowed == false)
        device.pass(31 * 86_400)
        #expect(tracker.currentUsage.mapValues(\.used)["voice_chat"] == 0)
        #expect(tracker.count("voice_chat") == .counted(remaining: 29))
        #expect(tracker.currentUsage.mapValues(\.used)["vocabulary"] == 10)
        #expect(tracker.release("offline_books") == .counted(remaining: 9))
        #expect(tracker.currentUsage["books_read"]?.used == 1)
        #expect(tracker.currentUsage["books_read"]?.resetsAt == nil)
    }

    @Test("reports anew without its instant what the server takes for the future, and does not ask for ever")
    func future() async {
        let device = UsageDevice()
        let tracker = device.launch()
        await tracker.synchronize()
        device.now += 7200
        tracker.count("vocabulary", amount: 3)
        device.now -= 7200
        await tracker.synchronize()
        #expect(device.server.total(of: "vocabulary") == 3 && tracker.use(of: "vocabulary")?.used == 3)
        #expect(device.server.with { $0.arrived.map(\.isDated) } == [true, false])
        #expect(Set(device.server.with { $0.arrived.map(\.key) }).count == 2)
    }

    @Test("forgets what it has when its account signs out, without being asked anything")
    func signOut() async {
        let device = UsageDevice()
        device.server.with { $0.network = .down }
        let tracker = device.launch()
        tracker.count("vocabulary", amount: 20)
        let states = tracker.states
        device.account = nil
        device.change()
        for await state in states where state.accountID == nil { break }
        #expect(device.cache.data == nil)
    }

    @Test(
        "sends and reads whenever the manager has asked the server, and when the tier changes, and not at other changes"
    )
    func follows() async {
        let device = UsageDevice()
        let tracker = device.launch()
        let states = tracker.states
        device.server.with { $0.used["vocabulary"] = [nil: 7] }
        device.readAt = device.now
        device.change()
        for await state in states where state.usage["vocabulary"]?.used == 7 { break }
        let readings = device.server.with { $0.countings }
        device.change()
        // Time for what must not happen.
        for _ in 0..<100 { await Task.yield() }
        #expect(device.server.with { $0.countings } == readings)
        device.server.with { $0.used["vocabulary"] = [nil: 8] }
        device.tier = "pro"
        device.change()
        for await state in states where state.usage["vocabulary"]?.used == 8 { break }
        #expect(device.server.with { $0.countings } == readings + 1)
        // What waits is sent at any change.
        device.server.with { $0.network = .down }
        tracker.count("vocabulary")
        await tracker.synchronize()
        device.server.with { $0.network = .up }
        device.change()
        for await state in states where state.waiting == 0 && state.usage["vocabulary"]?.used == 9 { break }
        #expect(device.server.total(of: "vocabulary") == 9)
    }

    @Test("asks twice at most about a report that the server takes for invalid")
    func invalid() async {
        let device = UsageDevice()
        let tracker = device.launch()
        device.server.with { $0.refusesAllInstants = true }
        tracker.count("vocabulary", amount: 3)
        await tracker.synchronize()
        #expect(device.server.with { $0.arrived.count } == 2 && tracker.state.waiting == 0)
        #expect(tracker.use(of: "vocabulary")?.used == 0)
    }

    @Test("drops what was used longer ago than the server counts, and does not count it for today")
    func tooOld() async {
        let device = UsageDevice()
        device.server.with { $0.network = .down }
        let tracker = device.launch()
        tracker.count("vocabulary", amount: 3)
        device.pass(36 * 86_400)
        device.server.with { $0.network = .up }
        await tracker.synchronize()
        #expect(device.server.with { $0.arrived.count } == 1 && device.server.total(of: "vocabulary") == 0)
        #expect(tracker.state.waiting == 0)
    }

    @Test("counts what the server counts, also where the catalog does not say that it is counted")
    func countedAfterAll() async {
        let device = UsageDevice()
        device.tier = "pro"
        device.server.with { $0.tier = "pro" }
        let tracker = device.launch()
        await tracker.synchronize()
        var rules = SampleRules.readmigo
        rules.tiers[1].limits["books_read"] = .open
        device.server.with { $0.rules = rules }
        let second = device.launch()
        await second.synchronize()
        // The fake server counts nothing that is open: the line is gone.
        #expect(second.count("books_read") == .notCounted)
        device.server.with { $0.rules = SampleRules.readmigo }
        await second.synchronize()
        #expect(second.rules?.limit(of: "books_read", in: "pro") == .open)
        #expect(second.count("books_read") == .counted(remaining: nil))
        await second.synchronize()
        #expect(device.server.total(of: "books_read") == 1)
    }

    @Test("has a count for each account, and forgets it when that signs out")
    func accounts() async {
        let device = UsageDevice()
        device.server.with { $0.network = .down }
        let tracker = device.launch()
        tracker.count("vocabulary", amount: 20)
        device.account = "bob"
        #expect(tracker.use(of: "vocabulary") == nil && tracker.state.accountID == "bob")
        tracker.count("vocabulary", amount: 5)
        #expect(tracker.use(of: "vocabulary")?.used == 5)
        device.account = nil
        #expect(tracker.state == UsageState(accountID: nil, rules: SampleRules.readmigo))
        #expect(device.cache.data == nil)
        #expect(tracker.count("vocabulary") == .refused(.notKnown))
        device.account = "alice"
        #expect(tracker.use(of: "vocabulary") == nil && tracker.state.waiting == 0)
    }

    @Test("drops an answer that comes after the account has changed")
    func lateAnswer() async {
        let gate = Gate()
        let device = UsageDevice(beforeCounts: { await gate.wait() })
        device.server.with { $0.used["vocabulary"] = [nil: 33] }
        let tracker = device.launch()
        let reading = Task { await tracker.synchronize() }
        await gate.arrived()
        device.account = "bob"
        await gate.open()
        await reading.value
        #expect(tracker.use(of: "vocabulary") == nil)
    }

    @Test("begins anew where the cache cannot be read, and goes on where it cannot be written")
    func cache() async {
        let device = UsageDevice()
        device.cache.data = Data("{".utf8)
        let tracker = device.launch()
        #expect(tracker.state.usage.isEmpty && tracker.count("vocabulary").isAllowed)
        device.cache.fill()
        #expect(tracker.count("vocabulary").isAllowed && tracker.use(of: "vocabulary")?.used == 2)
        await tracker.synchronize()
        #expect(device.server.total(of: "vocabulary") == 2)
    }

    @Test("knows what tiers give from the app's own copy before it has read the catalog, and from the catalog after")
    func rules() async {
        let device = UsageDevice(SampleRules.bills)
        #expect(device.launch(bundled: nil).count("bills") == .refused(.notKnown))
        let tracker = device.launch(bundled: SampleRules.readmigo)
        #expect(tracker.count("vocabulary").isAllowed)
        await tracker.synchronize()
        #expect(tracker.rules == SampleRules.bills)
        #expect(tracker.count("vocabulary") == .refused(.notKnown))
        #expect(device.launch(bundled: nil).count("bills") == .counted(remaining: 499))
        #expect(tracker.count("statistics") == .notCounted)
        #expect(tracker.count("cloud_sync") == .refused(.tierRequired(tier: "pro")))
        #expect(tracker.count("bills", amount: 0) == .outOfBounds)
    }

    @Test("reads the catalog once a process, and again when the account has a tier that it lacks")
    func newTier() async {
        let device = UsageDevice()
        let tracker = device.launch()
        await tracker.synchronize()
        await tracker.synchronize()
        #expect(device.server.with { $0.readings } == 1)
        device.tier = "ultra"
        device.server.with {
            $0.rules.tiers.append(.init(id: "ultra", name: "Ultra", limits: ["vocabulary": .count(5000, per: .total)]))
        }
        await tracker.synchronize()
        #expect(device.server.with { $0.readings } == 2)
        #expect(tracker.count("vocabulary") == .counted(remaining: 4999))
    }

    @Test("has the limit of the account's tier at once when that changes")
    func upgrade() {
        let device = UsageDevice()
        device.server.with { $0.network = .down }
        let tracker = device.launch()
        tracker.count("vocabulary", amount: 50)
        #expect(tracker.count("vocabulary").isAllowed == false)
        device.tier = "pro"
        #expect(tracker.count("vocabulary") == .counted(remaining: 949))
        device.tier = nil
        #expect(tracker.count("vocabulary").isAllowed == false)
        #expect(tracker.release("vocabulary", amount: 10).isAllowed)
    }
}
