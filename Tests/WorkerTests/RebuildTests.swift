import Operations
import Postgres
import PurchaseStore
import Simulation
import StandInSupport
import TestSupport
import Testing

@Suite("A rebuild")
struct RebuildTests {
    @Test("under settings that do not fit leaves alone what it cannot verify, unless told to forget it")
    func wrongSettings() async throws {
        try await withBench { bench in
            try await bench.store((1...3).map { bench.purchase(lane: $0).signed(by: bench.authority) })
            try await bench.workOff()
            let before = try await bench.contents()
            #expect(try await bench.value("select count(*) from storehook.subscriptions", as: Int64.self) == 3)

            let mistaken = Rebuild(pool: bench.pool, verifier: bench.strangerToTheApp, ledger: Ledger())
            let report = try await mistaken.run(repair: true) { _ in
            } onDifference: { _ in
            }
            #expect(report.unverified == 3 && report.purchases == 3)
            #expect(try await bench.contents() == before)

            let wanted = try await mistaken.run(repair: true, discard: true) { _ in
            } onDifference: { _ in
            }
            #expect(wanted.unverified == 3)
            #expect(try await bench.value("select count(*) from storehook.subscriptions", as: Int64.self) == 0)

            // The bytes are still there, and the right settings bring everything back.
            let right = Rebuild(pool: bench.pool, verifier: bench.verifier(), ledger: Ledger())
            _ = try await right.run(repair: true) { _ in
            } onDifference: { _ in
            }
            #expect(try await bench.value("select count(*) from storehook.subscriptions", as: Int64.self) == 3)
        }
    }
}
