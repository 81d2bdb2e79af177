import EvidenceStore
import Foundation
import Postgres
import Simulation

extension ChaosCell {
    static let poison = ChaosCell(name: "poison") { run in
        try await PoisonCell.play(run.programs, seed: UInt64(run.seed))
    }
}

/// A thousand notifications: one traps, one never ends, and one is refused by the database.
enum PoisonCell {
    private static let notifications = 1000
    private static let attempts = 2

    static func play(_ programs: ChaosPrograms, seed: UInt64) async throws -> ChaosOutcome {
        try await BenchDatabase.with { database in
            let outbox = Outbox(database.pool)
            let simulation = Simulation(
                seed: seed, notifications: notifications,
                endingAt: Milliseconds(Int64(Date().timeIntervalSince1970 * 1000)))
            try await outbox.store(simulation.signedDeliveries(by: programs.authority).map { Array($0.utf8) })
            let ids = try await database.pool.query("select id from storehook.outbox_queue order by id").map {
                try $0.decode(0, as: Int64.self)
            }
            // In the middle of three different batches, each with neighbours before and behind it.
            let (trapping, endless, refused) = (ids[150], ids[450], ids[750])
            try await database.pool.withTransaction { session in
                try session.executeScript(
                    """
                    create function storehook.refuse() returns trigger language plpgsql as $$ begin
                        raise exception 'refused' using errcode = 'data_exception';
                    end $$;
                    create trigger refuse before insert on storehook.notifications
                       for each row when (new.outbox_id = \(refused)) execute function storehook.refuse();
                    """)
            }
            let start = ContinuousClock.now
            let workers = try (0..<2).map { _ in
                try programs.poisoned(
                    ["--trap", "\(trapping)", "--endless", "\(endless)", "--attempts", "\(attempts)"], database.url)
            }
            var outcome = ChaosOutcome(posted: ids.count, acknowledged: ids.count)
            do {
                try await patiently("the good ones are applied", within: .seconds(120)) {
                    try await outbox.conservation().applied + outbox.conservation().parked == Int64(ids.count - 3)
                }
                outcome.secondsToRecover = (ContinuousClock.now - start) / .seconds(1)
                try await patiently("the bad ones are buried", within: .seconds(120)) {
                    try await outbox.queue.pending() == 0
                }
            } catch {
                for worker in workers { await worker.stop() }
                throw error
            }
            for worker in workers { await worker.stop() }
            let reasons = try await outbox.deadLetters(DeadLetterFilter(), limit: 10).map {
                "\($0.outboxID) \($0.reason)"
            }
            let places = try await outbox.conservation()
            outcome.applied = Int(places.applied + places.parked)
            outcome.duplicate = Int(places.duplicate)
            outcome.dead = Int(places.dead)
            outcome.poisonous = 3
            outcome.doubled = Int(places.doubled)
            let expected = Set(["\(trapping) crashed_worker", "\(endless) crashed_worker", "\(refused) sqlstate_22000"])
            outcome.lost = Int(places.missing) + (Set(reasons) == expected ? 0 : 1)
            return outcome
        }
    }
}
