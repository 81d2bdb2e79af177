import AppStorePayloads
import Base
import Events
import StoreModel
import Subscriptions
import TestSupport
import Testing

/// Lives of a store that is not the simulator's, told as they are heard.
@Suite("Events of random lives")
struct RandomLifeTests {
    private static let lives = sampledSeeds(of: 400)

    /// One purchase of a life, and when each of its notifications arrives.
    private struct Arrivals {
        var heard: [(at: Timestamp, what: Heard)]
        let seed: UInt64
    }

    /// Every purchase of many lives.
    private static func purchases() throws -> [(seed: UInt64, heard: [Heard])] {
        var purchases: [(UInt64, [Heard])] = []
        for seed in lives {
            let store = ModelStore(seed: seed)
            for ledger in store.ledgers {
                let sent = store.notifications.filter { $0.originalTransactionId == ledger.originalTransactionId }
                purchases.append((seed, try sent.map { try Heard($0) }))
            }
        }
        return purchases
    }

    @Test("heard in order, each thing is told once, folding gives the status at any time, and nothing is corrected")
    func inOrder() throws {
        var generator = TestSupport.SeededGenerator()
        var kinds: [EventKind: Int] = [:]
        for (seed, heard) in try Self.purchases() {
            // The model tells of a failed charge up to ten minutes after the seam.
            var judge = Judge(leewaySeconds: 900)
            for piece in heard {
                let now = piece.signedAt.adding(milliseconds: .random(in: 100..<4000, using: &generator))
                judge.runClock(to: now)
                judge.hear([piece], at: now)
            }
            if let last = heard.last { judge.runClock(to: last.signedAt.adding(days: 400)) }
            for event in judge.listener.events { kinds[event.kind, default: 0] += 1 }
            let faults = judge.faults + judge.finalFaults(isWhole: true)
            #expect(faults.isEmpty, "life \(seed), seed \(generator.seed): \(faults.joined(separator: "; "))")
            #expect(
                !judge.listener.events.contains { $0.isCorrection },
                "life \(seed): \(judge.story)")
        }
        // A tenth of the lives need not have what is rare.
        for kind in EventKind.allCases where takesAllSamples && kind.rawValue.hasPrefix("subscription.") {
            #expect(kinds[kind, default: 0] > (kind == .subscriptionTransferred ? -1 : 5), "\(kind)")
        }
    }

    @Test(
        "in random order with repeats, whole or with a third found only weeks later, each thing is told once, and folding gives the status",
        arguments: sampled([0, 30]))
    func inAnyOrder(_ lostPercent: Int) throws {
        var generator = TestSupport.SeededGenerator()
        var corrections = 0
        for (seed, heard) in try Self.purchases() {
            var judge = Judge(leewaySeconds: 600)
            let arrivals = Self.arrivals(of: heard, losing: lostPercent, using: &generator)
            var batch: [Heard] = []
            for (place, arrival) in arrivals.enumerated() {
                batch.append(arrival.what)
                // Some come together.
                if place + 1 < arrivals.count, Int.random(in: 0..<4, using: &generator) == 0 { continue }
                // At times the clock is not there.
                if Int.random(in: 0..<5, using: &generator) > 0 { judge.runClock(to: arrival.at) }
                judge.hear(batch, at: arrival.at)
                batch = []
            }
            if let last = arrivals.last { judge.runClock(to: last.at.adding(days: 400)) }
            corrections += judge.listener.events.count { $0.isCorrection }
            let faults = judge.faults + judge.finalFaults(isWhole: true)
            #expect(faults.isEmpty, "life \(seed), seed \(generator.seed): \(faults.joined(separator: "; "))")
        }
        #expect(isEnough(corrections, of: 20))
    }

    @Test("with a third of it lost for ever, what stands is what was told")
    func lossy() throws {
        var generator = TestSupport.SeededGenerator()
        var refunds = 0
        for (seed, heard) in try Self.purchases() {
            var judge = Judge(leewaySeconds: 600)
            for piece in heard where Int.random(in: 0..<10, using: &generator) >= 3 {
                let now = piece.signedAt.adding(seconds: .random(in: 1..<30, using: &generator))
                judge.runClock(to: now)
                judge.hear([piece], at: now)
            }
            if let last = heard.last { judge.runClock(to: last.signedAt.adding(days: 400)) }
            refunds += judge.listener.events.count { $0.kind == .subscriptionRefunded }
            let faults = judge.faults + judge.finalFaults(isWhole: false)
            #expect(faults.isEmpty, "life \(seed), seed \(generator.seed): \(faults.joined(separator: "; "))")
        }
        #expect(isEnough(refunds, of: 50))
    }

    @Test("what the clock tells at each instant that is due is what it tells of all of them after an outage")
    func outages() throws {
        var generator = TestSupport.SeededGenerator()
        for (seed, heard) in try Self.purchases() {
            let count = Int.random(in: 1...heard.count, using: &generator)
            var judge = Judge(leewaySeconds: 600)
            judge.listener.rules.warningDays = []
            for piece in heard.prefix(count) { judge.hear([piece], at: piece.signedAt.adding(seconds: 1)) }
            judge.listener.events = []
            var outage = judge
            let end = heard[count - 1].signedAt.adding(days: 400)
            judge.runClock(to: end)
            outage.listener.tick(end)
            #expect(outage.listener.nextDue.map { $0 > end } ?? true)
            let told = judge.listener.events.map { [$0.kind.rawValue, "\($0.instant)"] }
            #expect(told == outage.listener.events.map { [$0.kind.rawValue, "\($0.instant)"] }, "life \(seed)")
        }
    }

    /// Most arrive at once, some in hours, some in weeks; what is lost is found weeks later; some come again.
    private static func arrivals(
        of heard: [Heard], losing percent: Int, using generator: inout TestSupport.SeededGenerator
    ) -> [(at: Timestamp, what: Heard)] {
        var arrivals: [(at: Timestamp, what: Heard)] = []
        for piece in heard {
            let isLost = Int.random(in: 0..<100, using: &generator) < percent
            let delay: Int64 =
                switch Int.random(in: 0..<10, using: &generator) {
                case _ where isLost: .random(in: 86_400..<90 * 86_400, using: &generator)
                case 0..<5: .random(in: 1..<30, using: &generator)
                case 5..<8: .random(in: 30..<6 * 3600, using: &generator)
                default: .random(in: 3600..<20 * 86_400, using: &generator)
                }
            arrivals.append((piece.signedAt.adding(seconds: delay), piece))
            if Int.random(in: 0..<4, using: &generator) == 0 {
                arrivals.append((piece.signedAt.adding(seconds: delay + 7000), piece))
            }
        }
        return arrivals.sorted { $0.at < $1.at }
    }
}
