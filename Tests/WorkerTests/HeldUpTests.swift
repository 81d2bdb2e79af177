import EvidenceStore
import Foundation
import Postgres
import StandInSupport
import TestSupport
import Testing
import Worker

@Suite("What keeps a batch from being settled and passes")
struct HeldUpTests {
    /// Waiting rows and what they were put off for, how often they were tried, and how often their lease ran out.
    private func waiting(_ bench: Bench) async throws -> [(reason: String?, attempts: Int16, lapses: Int16)] {
        try await bench.pool.query(
            "select last_reason, attempts, lapses from storehook.outbox_queue where lease_token is null"
        ).map { try $0.values(String?.self, Int16.self, Int16.self) }
    }

    private func onArrival(of uuid: UUID, _ statement: String) -> String {
        """
        create or replace function storehook.hold_up() returns trigger language plpgsql as $$ begin
            if new.notification_uuid = '\(uuid)' then \(statement); end if;
            return new;
        end $$;
        create or replace trigger hold_up before insert on storehook.notifications
           for each row execute function storehook.hold_up();
        """
    }

    private let drop = "drop function storehook.hold_up() cascade;"

    @Test("for one row alone is put off alone, its attempt counted, and its neighbours are applied")
    func oneRow() async throws {
        try await withBench { bench in
            let tests = bench.tests(10)
            try await bench.install(onArrival(of: tests[4].uuid, "raise exception 'held' using errcode = '55P03'"))
            try await bench.store(tests.map(\.text))
            try await bench.withWorker { running in
                try await eventually("the others are applied") {
                    try await bench.outbox.conservation().applied == 9
                }
                try await eventually("it waits, and that is counted") {
                    try await waiting(bench).contains { $0 == ("sqlstate_55p03", 1, 0) }
                }
                try await bench.install(drop)
                try await bench.untilDone()
                try await eventually("it is ready") { running.worker.whyNotReady == nil }
            }
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 10 && counted.dead == 0 && counted.doubled == 0)
        }
    }

    @Test("for one row for longer than a lease lets none lapse, and its neighbours are applied")
    func oneSlowRow() async throws {
        try await withBench { bench in
            let tests = bench.tests(10)
            try await bench.install(onArrival(of: tests[4].uuid, "perform pg_sleep(600)"))
            try await bench.store(tests.map(\.text))
            try await bench.withWorker(lease: .seconds(6)) { _ in
                try await eventually("the others are applied") {
                    try await bench.outbox.conservation().applied == 9
                }
                try await eventually("it waits, and its lease did not run out") {
                    try await waiting(bench).contains { $0.reason == "database_timeout" && $0.lapses == 0 }
                }
                try await bench.install(drop)
                try await bench.untilDone()
            }
            #expect(try await bench.outbox.conservation().applied == 10)
        }
    }

    @Test("for all, for several leases, counts no attempt and lets none lapse")
    func all() async throws {
        try await withBench { bench in
            try await bench.store(bench.tests(3).map(\.text))
            let held = try await HeldTransaction(
                in: bench.database, "lock table storehook.notifications in exclusive mode")
            try await bench.withWorker(batch: 2, lease: .seconds(2)) { running in
                var rounds = 0
                var last: String?
                try await eventually("it was put off three times") {
                    let row = try await bench.pool.query(
                        """
                        select min(due_at)::text, coalesce(max(lapses), 0), coalesce(max(attempts), 0)
                          from storehook.outbox_queue
                         where last_reason = 'database_timeout' and lease_token is null and due_at > now()
                        """
                    ).one().values(String?.self, Int32.self, Int32.self)
                    #expect(row.1 == 0 && row.2 == 0)
                    if let due = row.0, due != last { (last, rounds) = (due, rounds + 1) }
                    return rounds >= 3
                }
                #expect(running.worker.whyNotReady != nil)
                try await held.release()
                try await bench.untilDone()
            }
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 3 && counted.dead == 0)
        }
    }
}
