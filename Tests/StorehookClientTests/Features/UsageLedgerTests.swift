import Foundation
import Testing

@testable import StorehookClient

@Suite("The ledger of use")
struct UsageLedgerTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let midnight = now + 3600

    /// A ledger that the server has stated three features of.
    private static func ledger() -> UsageLedger {
        var ledger = UsageLedger(account: "alice")
        ledger.adopt([
            "ai": .init(window: .init(period: .day, resetsAt: midnight), used: 2),
            "words": .init(window: .init(period: .total, resetsAt: nil), used: 40),
        ])
        return ledger
    }

    private static func count(
        _ act: UsageAct, of feature: String, _ limit: FeatureLimit, in ledger: inout UsageLedger, at now: Date = now,
        key: String = UUID().uuidString
    ) throws {
        try ledger.count(act, of: feature, limit: limit, key: key, at: now, in: .gmt)
    }

    @Test("counts at once, on top of what the server has counted")
    func counts() throws {
        var ledger = Self.ledger()
        try Self.count(.add(2), of: "ai", .count(5, per: .day), in: &ledger)
        #expect(
            ledger.use(of: "ai", at: Self.now)
                == UsageLine(feature: "ai", period: .day, used: 4, resetsAt: Self.midnight))
        #expect(ledger.pending.map(\.act) == [.add(2)])
    }

    @Test("refuses what is more than is left, and changes nothing then")
    func refuses() throws {
        var ledger = Self.ledger()
        let before = ledger
        #expect(throws: UsageLedger.Refusal.limit) {
            try Self.count(.add(4), of: "ai", .count(5, per: .day), in: &ledger)
        }
        #expect(throws: UsageLedger.Refusal.limit) { try Self.count(.add(1), of: "ai", .closed, in: &ledger) }
        #expect(ledger == before)
        try Self.count(.add(3), of: "ai", .count(5, per: .day), in: &ledger)
        #expect(throws: UsageLedger.Refusal.limit) {
            try Self.count(.add(1), of: "ai", .count(5, per: .day), in: &ledger)
        }
    }

    @Test(
        "refuses an amount that the server would not take",
        arguments: [
            UsageAct.add(0), .add(-1), .add(1_000_001), .add(.max), .release(0), .release(.min), .set(-1),
            .set(1_000_000_001),
        ])
    func bounds(_ act: UsageAct) {
        var ledger = Self.ledger()
        #expect(throws: UsageLedger.Refusal.bounds) { try Self.count(act, of: "words", .unlimited, in: &ledger) }
        #expect(ledger == Self.ledger())
    }

    @Test("begins anew when its day is over, and counts what was used before then for that day alone")
    func resets() throws {
        var ledger = Self.ledger()
        try Self.count(.add(3), of: "ai", .count(5, per: .day), in: &ledger)
        #expect(ledger.use(of: "ai", at: Self.midnight - 1)?.used == 5)
        #expect(ledger.use(of: "ai", at: Self.midnight)?.used == 0)
        #expect(ledger.use(of: "ai", at: Self.midnight)?.resetsAt == Self.midnight + 86_400)
        try Self.count(.add(5), of: "ai", .count(5, per: .day), in: &ledger, at: Self.midnight)
        #expect(ledger.use(of: "ai", at: Self.midnight)?.used == 5)
        #expect(ledger.pending.count == 2)
    }

    @Test("gives back and sets a stock, never refused for becoming smaller")
    func stock() throws {
        var ledger = Self.ledger()
        let limit = FeatureLimit.count(10, per: .total)
        try Self.count(.release(5), of: "words", limit, in: &ledger)
        #expect(ledger.use(of: "words", at: Self.now)?.used == 35)
        // 40 is what a higher tier left behind: less is fine, more is not.
        try Self.count(.set(30), of: "words", limit, in: &ledger)
        #expect(throws: UsageLedger.Refusal.limit) { try Self.count(.set(31), of: "words", limit, in: &ledger) }
        try Self.count(.release(100), of: "words", limit, in: &ledger)
        #expect(ledger.use(of: "words", at: Self.now)?.used == 0)
        try Self.count(.set(10), of: "words", limit, in: &ledger)
        #expect(ledger.use(of: "words", at: Self.now)?.used == 10)
    }

    @Test("counts a feature that the server has stated nothing of in the device's own day")
    func estimated() throws {
        var ledger = UsageLedger(account: "alice")
        try Self.count(.add(1), of: "ai", .count(5, per: .day), in: &ledger)
        let midnight = ledger.use(of: "ai", at: Self.now)?.resetsAt
        #expect(midnight == UsageWindow.estimated(.day, at: Self.now, in: .gmt).resetsAt)
        // The server's word takes the estimate's place, and what waits goes on top once.
        ledger.acknowledge(
            ledger.pending[0].key, used: 7, window: .init(period: .day, resetsAt: Self.now + 60))
        #expect(ledger.use(of: "ai", at: Self.now)?.used == 7)
        #expect(ledger.use(of: "ai", at: Self.now)?.resetsAt == Self.now + 60)
    }

    @Test("has the server's count after a report, also what other devices have used")
    func acknowledged() throws {
        var ledger = Self.ledger()
        try Self.count(.add(1), of: "ai", .count(50, per: .day), in: &ledger, key: "a")
        try Self.count(.add(2), of: "ai", .count(50, per: .day), in: &ledger, key: "b")
        ledger.acknowledge("b", used: 99, window: nil)
        #expect(ledger.pending.map(\.key) == ["a", "b"], "only the first one can have been sent")
        ledger.acknowledge("a", used: 20, window: .init(period: .day, resetsAt: Self.midnight))
        #expect(ledger.use(of: "ai", at: Self.now)?.used == 22)
        // The answer to a repeated report is of another time.
        ledger.acknowledge("b", used: nil, window: nil)
        #expect(ledger.use(of: "ai", at: Self.now)?.used == 22)
        #expect(ledger.pending.isEmpty)
    }

    @Test("keeps today's count when a report of yesterday is counted")
    func late() throws {
        var ledger = Self.ledger()
        try Self.count(.add(3), of: "ai", .count(5, per: .day), in: &ledger, key: "a")
        let today = Self.midnight + 60
        ledger.adopt(["ai": .init(window: .init(period: .day, resetsAt: Self.midnight + 86_400), used: 1)])
        ledger.acknowledge("a", used: 5, window: .init(period: .day, resetsAt: Self.midnight))
        #expect(ledger.use(of: "ai", at: today)?.used == 1)
    }

    @Test("counts on in the next period where the server has counted there")
    func newer() throws {
        var ledger = Self.ledger()
        try Self.count(.add(1), of: "ai", .count(5, per: .day), in: &ledger, at: Self.midnight + 5, key: "a")
        ledger.acknowledge("a", used: 4, window: .init(period: .day, resetsAt: Self.midnight + 86_400))
        #expect(ledger.use(of: "ai", at: Self.midnight + 6)?.used == 4)
    }

    @Test("forgets a report that the server will never count")
    func dropped() throws {
        var ledger = Self.ledger()
        try Self.count(.add(1), of: "ai", .count(5, per: .day), in: &ledger, key: "a")
        ledger.drop("b")
        #expect(ledger.pending.count == 1)
        ledger.drop("a")
        #expect(ledger.pending.isEmpty)
        #expect(ledger.use(of: "ai", at: Self.now)?.used == 2)
    }

    @Test("sends a report anew without its instant and under another key")
    func undated() throws {
        var ledger = Self.ledger()
        try Self.count(.add(1), of: "ai", .count(5, per: .day), in: &ledger, at: Self.now + 7200, key: "a")
        ledger.undate("a", newKey: "b", at: Self.now)
        #expect(
            ledger.pending == [.init(feature: "ai", act: .add(1), key: "b", usedAt: Self.now, isDated: false)])
    }

    @Test("has the last report take more uses once 500 wait, but never the first, which may have been sent")
    func bounded() throws {
        var ledger = Self.ledger()
        for use in 0..<700 {
            try Self.count(.add(1), of: "ai", .unlimited, in: &ledger, key: "\(use)")
        }
        #expect(ledger.pending.count == UsageLedger.mostPending)
        #expect(ledger.pending.first?.act == .add(1))
        #expect(ledger.pending.last?.act == .add(201))
        #expect(ledger.use(of: "ai", at: Self.now)?.used == 702)
        // Another feature has a report of its own, and so has another day.
        try Self.count(.add(1), of: "words", .unlimited, in: &ledger, key: "words")
        try Self.count(.add(1), of: "ai", .unlimited, in: &ledger, at: Self.midnight, key: "tomorrow")
        #expect(ledger.pending.suffix(2).map(\.key) == ["words", "tomorrow"])
        #expect(ledger.use(of: "ai", at: Self.now)?.used == 702)
        #expect(ledger.use(of: "ai", at: Self.midnight)?.used == 1)
    }

    @Test("leaves the first report as it is, also where it is the only one of its feature")
    func first() throws {
        var ledger = Self.ledger()
        try Self.count(.add(1), of: "words", .unlimited, in: &ledger, key: "sent")
        for _ in 1..<UsageLedger.mostPending { try Self.count(.add(1), of: "ai", .unlimited, in: &ledger) }
        try Self.count(.add(1), of: "words", .unlimited, in: &ledger, key: "later")
        #expect(ledger.pending.first?.act == .add(1))
        #expect(ledger.pending.last?.key == "later")
    }

    @Test("comes back from the cache as it was")
    func coded() throws {
        var ledger = Self.ledger()
        ledger.rules = SampleRules.bills
        for act in [UsageAct.add(1), .release(2), .set(3)] {
            try Self.count(act, of: "words", .unlimited, in: &ledger)
        }
        #expect(try JSONDecoder().decode(UsageLedger.self, from: JSONEncoder().encode(ledger)) == ledger)
    }
}
