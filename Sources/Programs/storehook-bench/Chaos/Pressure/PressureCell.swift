import EvidenceStore
import Foundation
import Postgres

/// What a burden is laid on.
struct PressureSetting: Sendable {
    let database: BenchDatabase
    let programs: ChaosPrograms
    /// How long notifications come and go while the vacuum horizon is pinned.
    let seconds: Int
}

/// Something that weighs on the database while the queue is worked.
struct PressureCell: Sendable {
    let name: String
    /// Lays it on; what has to be taken away again is left with the weight.
    let burden: @Sendable (PressureWeight, PressureSetting) async throws -> Void

    static let all = [
        PressureCell(name: "horizon-pinned") { weight, setting in
            try await weight.hold(setting.database) { session, isHeld in
                // An id of its own, as a stranger's transaction has that wrote something and then forgot to end.
                try session.query("select txid_current()::text")
                while isHeld() { Thread.sleep(forTimeInterval: 0.05) }
            }
            try await Self.comingAndGoing(setting)
        },
        PressureCell(name: "long-readers") { weight, setting in
            for table in ["outbox", "notifications", "transactions"] {
                try await weight.hold(setting.database) { session, isHeld in
                    try session.query("declare slow cursor for select * from storehook.\(unescaped: table)")
                    // About the pace of a dump over a slow line.
                    while isHeld() {
                        if try session.query("fetch 20 from slow").isEmpty {
                            try session.query("move absolute 0 in slow")
                        }
                        Thread.sleep(forTimeInterval: 0.05)
                    }
                }
            }
        },
        PressureCell(name: "dead-letters-100000") { _, setting in
            try await setting.database.pool.query(
                """
                with stored as (
                    insert into storehook.outbox (body) select 'x' from generate_series(1, 100000) returning id, received_at
                )
                insert into storehook.dead_letters (outbox_id, received_at, category, reason, message, attempts)
                select id, received_at, 'unverified', 'malformed', 'not three segments', 1 from stored
                """, deadline: .seconds(120))
            try await Self.settle(setting)
        },
        PressureCell(name: "scheduled-200000") { _, setting in
            try await setting.database.pool.query(
                """
                with stored as (
                    insert into storehook.outbox (body) select 'x' from generate_series(1, 200000) returning id, received_at
                )
                insert into storehook.outbox_queue (id, received_at, due_at, attempts, last_reason)
                select id, received_at, now() + interval '1 hour' + random() * interval '1 hour', 1, 'database_unavailable'
                  from stored
                """, deadline: .seconds(120))
            try await Self.settle(setting)
        },
    ]

    /// What was put there at once is to weigh as what has lain there for hours does: autovacuum has long seen it.
    private static func settle(_ setting: PressureSetting) async throws {
        try await setting.database.pool.query("vacuum analyze", deadline: .seconds(300))
    }

    /// Notifications a second that come and go meanwhile.
    private static let rate = 400

    /// Lets notifications be stored and settled for a while.
    private static func comingAndGoing(_ setting: PressureSetting) async throws {
        let workers = try (0..<2).map { _ in try setting.programs.supervised(["work"], setting.database.url) }
        do {
            let end = ContinuousClock.now + .seconds(setting.seconds)
            // Each second's worth at once, of customers of its own.
            var seed: UInt64 = 10
            while ContinuousClock.now < end {
                let next = ContinuousClock.now + .seconds(10)
                _ = try await Backlog.store(rate * 10, seed: seed, by: setting.programs.authority, in: setting.database)
                seed += 1
                try await Task.sleep(until: next)
            }
            try await patiently("all of it is settled", within: .seconds(60)) {
                try await Outbox(setting.database.pool).queue.pending() == 0
            }
            for worker in workers { await worker.stop() }
        } catch {
            for worker in workers { await worker.stop() }
            throw error
        }
    }
}
