import EvidenceStore
import Foundation
import Glibc
import Postgres
import Simulation
import TestSupport
import Testing

@Suite("A poisonous notification")
struct PoisonTests {
    @Test(
        "that traps, never ends, swells or is refused is buried alone, and its neighbours are applied",
        .timeLimit(.minutes(5)))
    func poison() async throws {
        try await withSite { site in
            let simulation = Simulation(seed: 7, subscribers: 40, notifications: 400, endingAt: Site.now)
            try await site.outbox.store(simulation.signedDeliveries(by: site.authority).map { Array($0.utf8) })
            let ids = try await site.pool.query("select id from storehook.outbox_queue order by id").map {
                try $0.decode(0, as: Int64.self)
            }
            let (trapping, endless, swelling, refused) = (ids[50], ids[150], ids[250], ids[350])
            let fault = RefusingTrigger(where: "new.outbox_id = \(refused)", state: "22000")
            try await site.pool.withTransaction { try $0.executeScript(fault.script) }
            let workers = (0..<2).map { _ in
                // Again whenever it ends, as its supervisor would.
                Task {
                    var deaths = 0
                    while !Task.isCancelled {
                        let worker = try site.start(
                            [
                                "poisoned-worker", "--trusted-root", site.authority.rootFingerprint, "--lease", "2",
                                "--attempts", "2", "--batch", "100", "--trap", "\(trapping)", "--endless", "\(endless)",
                                "--swell", "\(swelling)",
                            ], of: Executable.bench)
                        _ = await withTaskCancellationHandler {
                            await worker.end()
                        } onCancel: {
                            worker.signal(SIGKILL)
                        }
                        await worker.discard()
                        deaths += 1
                    }
                    return deaths
                }
            }
            let result: Result<Void, any Error>
            do { result = .success(try await site.untilDone()) } catch { result = .failure(error) }
            for worker in workers { worker.cancel() }
            var deaths = 0
            for worker in workers { deaths += try await worker.value }
            try result.get()

            let letters = try await site.outbox.deadLetters(DeadLetterFilter(), limit: 10)
            #expect(
                Set(letters.map { "\($0.outboxID) \($0.reason) after \($0.attempts)" }) == [
                    "\(trapping) crashed_worker after 2", "\(endless) crashed_worker after 2",
                    "\(swelling) crashed_worker after 2",
                    "\(refused) sqlstate_22000 after \(letters.first { $0.outboxID == refused }?.attempts ?? 0)",
                ])
            let places = try await site.outbox.conservation()
            #expect(places.applied + places.parked == 396 && places.dead == 4)
            #expect(places.missing == 0 && places.doubled == 0)
            // Each of the three ends a worker when it is tried alone. Before that it ends at most one that tries it among others, and may use up
            // an attempt of these. Two workers were ended here.
            #expect((5...8).contains(deaths))
        }
    }

    @Test("worker that stands still past its lease settles nothing, holds nobody up, and says so when it goes on")
    func paused() async throws {
        try await withSite { site in
            let simulation = Simulation(seed: 8, subscribers: 20, notifications: 200, endingAt: Site.now)
            try await site.outbox.store(simulation.signedDeliveries(by: site.authority).map { Array($0.utf8) })
            // Its transaction waits for a lock, so that it is in the middle of settling when it is stopped.
            let blocked = try await HeldTransaction(
                in: site.database, "lock table storehook.transactions in share row exclusive mode")
            try await site.with(["work", "--batch", "50"], ["STOREHOOK_LEASE_SECONDS": "2"]) { paused in
                try await eventually("it is in the middle of settling") {
                    try await site.value(
                        """
                        select count(*) from pg_stat_activity
                         where datname = current_database() and wait_event_type = 'Lock' and query like '%transactions%'
                        """, as: Int64.self) > 0
                }
                try await paused.pause()
                try await blocked.release()
                try await site.with(["work"], ["STOREHOOK_LEASE_SECONDS": "2"]) { _ in try await site.untilDone() }
                paused.signal(SIGCONT)
                try await eventually("it says what it lost") {
                    paused.errors.contains("Lost the lease on rows of a batch; others do them")
                }
                #expect(paused.ending == nil)
            }
            let places = try await site.outbox.conservation()
            #expect(places.applied + places.parked == 200 && places.dead == 0)
            #expect(places.missing == 0 && places.doubled == 0)
        }
    }
}
