import AppleRecords
import Postgres
import ServiceLifecycle
import StandInSupport
import TestSupport
import Testing
import Worker

/// The clock of what is due, beside a worker.
struct DueClockTests {
    @Test("it counts at once, and as soon as a rest is over, until it is told to stop")
    func counts() async throws {
        try await withBench { bench in
            let ends = DueEnds(bench.pool)
            let clock = DueClock(ends, interval: .milliseconds(20), logger: quiet)
            let group = ServiceGroup(services: [clock], logger: quiet)
            let running = Task { try await group.run() }
            do {
                try await eventually("everything is counted") {
                    let counts = try await ends.counts()
                    return counts.due == 0 && counts.lines.allSatisfy { $0.unheard == 0 }
                }
                try await bench.pool.query(
                    "insert into storehook.due_counts (bundle_id, age, unheard, imported) values ('a', '1h', 3, 0)")
                try await bench.pool.query("update storehook.due_count_state set due_at = '-infinity'")
                try await eventually("it is counted again") {
                    try await ends.counts().lines.allSatisfy { $0.unheard == 0 }
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
