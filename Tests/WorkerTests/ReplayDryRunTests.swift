import AppStorePayloads
import Base
import EvidenceStore
import Foundation
import Operations
import Postgres
import PurchaseStore
import Simulation
import StandInSupport
import Subscriptions
import TestSupport
import Testing

@Suite("Rehearsing a replay")
struct ReplayRehearsalTests {
    /// Each line's status at an instant.
    private func statuses(_ bench: Bench) async throws -> [String: String] {
        let at = PostgresTimestamp(millisecondsSince1970: Bench.now)
        let rows = try await bench.pool.query(
            "select original_transaction_id, status from storehook.status_at(\(at))")
        return try Dictionary(uniqueKeysWithValues: rows.map { try $0.values(String.self, String.self) })
    }

    @Test("changes nothing, and tells exactly what the replay then does", arguments: sampled([UInt64(1), 2]))
    func dryRun(seed: UInt64) async throws {
        try await withBench { bench in
            let simulation = Simulation(
                seed: seed, subscribers: 9, notifications: 90, order: .shuffled, endingAt: Bench.now)
            let texts = Array(simulation.signedDeliveries(by: bench.authority))
            var unknown = bench.purchase(lane: 900_000)
            unknown.type = "SOMETHING_NEW"
            // Some are applied; the rest dies for want of a setting, repeats of the former and of the latter among it.
            try await bench.store(Array(texts[..<40]))
            try await bench.workOff()
            try await bench.store(
                Array(texts[40...]) + Array(texts[30..<50]) + [unknown.signed(by: bench.authority), "not a JWS"])
            try await bench.workOff(bench.strangerToTheApp)
            #expect(try await bench.letters().count == 72)

            let before = try await bench.contents()
            let statusesBefore = try await statuses(bench)
            let dryRun = ReplayDryRun(pool: bench.pool, verifier: bench.verifier(), ledger: Ledger())
            let report = try await dryRun.run(DeadLetterFilter(), at: Timestamp(millisecondsSince1970: Bench.now))
            #expect(try await bench.contents() == before)

            #expect(report.letters == 72)
            // Of the simulator's types a few may be new to this release.
            #expect(report.applied + report.parked == 51 && report.applied > 40)
            #expect(report.duplicate == 20)
            #expect(report.parked >= 1)
            #expect(report.stillDead.map(\.reason.rawValue) == ["malformed"])

            let counted = try await bench.outbox.conservation()
            let replayed = try await bench.outbox.replay(DeadLetterFilter(), perSecond: nil, by: "me", why: nil)
            #expect(replayed.count == report.letters)
            try await bench.workOff()
            let after = try await bench.outbox.conservation()
            #expect(after.applied - counted.applied == Int64(report.applied))
            #expect(after.duplicate - counted.duplicate == Int64(report.duplicate))
            #expect(after.parked - counted.parked == Int64(report.parked))
            #expect(after.dead == Int64(report.stillDead.count))
            #expect(after.missing == 0 && after.doubled == 0)

            let statusesAfter = try await statuses(bench)
            var moves: [String: [String?]] = [:]
            for (line, status) in statusesAfter where statusesBefore[line] != status {
                moves[line] = [statusesBefore[line], status]
            }
            #expect(!moves.isEmpty)
            #expect(
                Dictionary(
                    uniqueKeysWithValues: report.moves.map {
                        ($0.purchase.originalTransactionID, [$0.from?.rawValue, $0.to.rawValue])
                    }) == moves)
        }
    }

    @Test("says which letters the database refuses, and what the others would do")
    func refused() async throws {
        try await withBench { bench in
            let purchases = (1...9).map { bench.purchase(lane: $0) }
            try await bench.store(purchases.map { $0.signed(by: bench.authority) })
            try await bench.workOff(bench.strangerToTheApp)
            let letters = try await bench.letters()
            #expect(letters.count == 9)
            let refused = [2, 3, 7].compactMap { purchases[$0].transaction?.transactionId }
            let isRefused = "new.transaction_id = any ('{\(refused.joined(separator: ","))}')"
            try await bench.install(
                RefusingTrigger(of: "transactions", where: isRefused, state: "22003").script)
            let before = try await bench.contents()
            let dryRun = ReplayDryRun(pool: bench.pool, verifier: bench.verifier(), ledger: Ledger())
            let now = Timestamp(millisecondsSince1970: Bench.now)
            let report = try await dryRun.run(DeadLetterFilter(), at: now)
            #expect(try await bench.contents() == before)
            #expect(report.letters == 9 && report.applied == 6 && report.duplicate == 0)
            let dead = [2, 3, 7].map { place in
                letters.first { $0.notificationUUID?.uuidString.lowercased() == purchases[place].uuid.lowercased() }?.id
            }
            #expect(report.stillDead.map(\.id) == dead.compactMap(\.self) && report.stillDead.count == 3)
            #expect(report.stillDead.allSatisfy { $0.reason.rawValue == "sqlstate_22003" })
            #expect(report.moves.count == 6 && report.moves.allSatisfy { $0.from == nil && $0.to == .active })
            // Alone as well.
            let alone = try await dryRun.run(DeadLetterFilter(ids: dead.compactMap(\.self).suffix(1)), at: now)
            #expect(alone.letters == 1 && alone.applied == 0 && alone.stillDead.map(\.id) == dead.suffix(1))
            // What no letter can be to blame for ends the command.
            // 23514 as of a constraint that was added by hand: workers bury nothing for it.
            for code in ["P0001", "23514"] {
                try await bench.install(RefusingTrigger(of: "transactions", where: isRefused, state: code).script)
                let error = await #expect(throws: PostgresError.self) {
                    _ = try await dryRun.run(DeadLetterFilter(), at: now)
                }
                #expect(error?.sqlState?.rawValue == code)
                #expect(try await bench.contents() == before)
            }
        }
    }

    @Test("of nothing is nothing")
    func nothing() async throws {
        try await withBench { bench in
            let dryRun = ReplayDryRun(pool: bench.pool, verifier: bench.verifier(), ledger: Ledger())
            let report = try await dryRun.run(DeadLetterFilter(), at: Timestamp(millisecondsSince1970: Bench.now))
            #expect(report.letters == 0 && report.applied == 0 && report.stillDead.isEmpty && report.moves.isEmpty)
        }
    }
}
