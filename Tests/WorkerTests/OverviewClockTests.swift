import EvidenceStore
import Postgres
import PurchaseStore
import ServiceLifecycle
import StandInSupport
import TestSupport
import Testing
import Worker

/// The overview that a worker writes, beside its work.
struct OverviewClockTests {
    @Test("has what the worker applied, knew already and buried, each once, and goes on when the database was away")
    func counts() async throws {
        try await withBench { bench in
            let tests = bench.tests(3)
            try await bench.store(tests.map(\.text) + [tests[0].text, "no notification"])
            let tally = WorkTally()
            let worker = Worker(
                pool: bench.pool, verifier: bench.verifier(), ledger: Ledger(), listener: nil,
                configuration: WorkerConfiguration(name: "test", pollInterval: .milliseconds(20)), tally: tally,
                logger: quiet)
            let clock = OverviewClock(
                OverviewStore(bench.pool), tally, interval: .milliseconds(20), logger: quiet)
            // What it cannot write it keeps.
            try await bench.install("alter table storehook.overview_state rename to away")
            let group = ServiceGroup(services: [worker, clock], logger: quiet)
            let running = Task { try await group.run() }
            do {
                try await bench.untilDone()
                try await bench.install("alter table storehook.away rename to overview_state")
                // A row takes what was added before it; the rest waits for the next one.
                try await eventually("all is added") {
                    try await bench.texts(
                        """
                        select format('%s %s %s %s', s.recorded + coalesce(sum(r.recorded), 0),
                                      s.duplicates + coalesce(sum(r.duplicates), 0), s.buried + coalesce(sum(r.buried), 0),
                                      s.own_count + coalesce(sum(r.own_count), 0))
                          from storehook.overview_state s left join storehook.overview_ring r on r.seconds = 5
                         group by s.only_row, s.recorded, s.duplicates, s.buried, s.own_count
                        """) == ["3 1 1 3"]
                }
                try await eventually("a row is written") {
                    try await OverviewStore(bench.pool).latest().sample != nil
                }
            } catch {
                running.cancel()
                throw error
            }
            await group.triggerGracefulShutdown()
            try await running.value
        }
    }
}
