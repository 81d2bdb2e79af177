import EvidenceStore
import Postgres
import Simulation
import TestSupport
import Testing

@Suite("The programs behind a pooler in transaction mode", .serialized)
struct PoolerTests {
    /// Sessions whose last statement began to listen.
    private func listening(_ site: Site) async throws -> Int64 {
        try await site.value(
            "select count(*) from pg_stat_activity where datname = current_database() and query ilike 'listen%'")
    }

    @Test("lose nothing and double nothing, over fewer server sessions than they have connections")
    func conservation() async throws {
        try await withSite { site in
            let simulation = Simulation(
                seed: 7, subscribers: 30, notifications: 300, duplicatePercent: 20, order: .shuffled,
                endingAt: Site.now)
            let texts = Array(simulation.signedDeliveries(by: site.authority))
            let pooler = try await TransactionPooler.start(before: site.database, sessions: 3)
            let there = ["DATABASE_URL": pooler.url]
            do {
                try await site.with(["receive", "--port", "0"], there) { receiver in
                    try await site.with(["work", "--batch", "20"], there) { first in
                        try await site.with(["work", "--batch", "20"], there) { second in
                            let sender = Sender(texts, port: try #require(receiver.port))
                            await sender.run()
                            #expect(sender.answered.count == texts.count)
                            try await site.untilDone()
                            for worker in [first, second] {
                                try await eventually("it says that it polls") { worker.errors.contains("pooler") }
                                #expect(!worker.errors.contains(#""level":"error""#), "\(worker.errors)")
                            }
                        }
                    }
                }
                // Commands that use transactions of several statements, and none that leans on a session.
                #expect(
                    try await site.run("dead-letters", "replay", "--all", "--dry-run", with: there).ending == .exited(0)
                )
                #expect(try await site.run("queue", "--conservation", with: there).ending == .exited(0))
                #expect(try await site.run("migrate", with: there).ending == .exited(0))
                // A session that listens and is lent to others would be left behind in the pooler.
                #expect(try await listening(site) == 0)
                await pooler.stop()
            } catch {
                print("what pgbouncer said before the test failed:\n\(pooler.log)")
                await pooler.stop()
                throw error
            }
            let counted = try await site.outbox.conservation()
            #expect(counted.received == Int64(texts.count))
            #expect(counted.missing == 0 && counted.doubled == 0 && counted.pending == 0 && counted.dead == 0)
        }
    }

    @Test("and a worker told not to listen does its work by polling alone")
    func polling() async throws {
        try await withSite { site in
            let simulation = Simulation(seed: 8, notifications: 20, endingAt: Site.now)
            try await site.with(["work"], ["STOREHOOK_LISTEN": "off"]) { worker in
                try await site.outbox.store(simulation.signedDeliveries(by: site.authority).map { Array($0.utf8) })
                try await site.untilDone()
                #expect(try await listening(site) == 0)
                #expect(!worker.errors.contains("listening"))
            }
        }
    }
}
