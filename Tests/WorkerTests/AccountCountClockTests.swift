import AccountStore
import Postgres
import ServiceLifecycle
import StandInSupport
import TestSupport
import Testing
import Worker

/// The clock of account counts, beside a worker.
struct AccountCountClockTests {
    @Test("it counts as soon as a catalog stands, and as soon as a rest is over, until it is told to stop")
    func counts() async throws {
        try await withBench { bench in
            let accounts = AccountStore(bench.pool)
            let clock = AccountCountClock(accounts, interval: .milliseconds(20), logger: quiet)
            let group = ServiceGroup(services: [clock], logger: quiet)
            let running = Task { try await group.run() }
            do {
                _ = try await accounts.apply("tiers: [{id: free}]\n", by: "cli:test")
                try await eventually("accounts are counted") {
                    try await accounts.counts(in: "Production").countedAt != nil
                }
                try await bench.pool.query("insert into storehook.accounts (token) values (gen_random_uuid())")
                try await bench.pool.query("update storehook.account_count_state set due_at = '-infinity'")
                try await eventually("they are counted again") {
                    try await accounts.counts(in: "Production").groups.map(\.count) == [1]
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
