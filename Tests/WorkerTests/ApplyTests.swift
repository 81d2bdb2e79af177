import AppStorePayloads
import Foundation
import Postgres
import ServiceLifecycle
import Simulation
import StandInSupport
import TestSupport
import Testing

@testable import EvidenceStore
@testable import Worker

@Suite("The worker")
struct ApplyTests {
    @Test("applies what is verified, counts repeats and parks what it does not know: each in one place")
    func places() async throws {
        try await withBench { bench in
            let simulation = Simulation(
                seed: 11, subscribers: 8, notifications: 80, duplicatePercent: 25, order: .shuffled, endingAt: Bench.now
            )
            var unknown = bench.purchase(lane: 900_000)
            unknown.type = "SOMETHING_NEW"
            try await bench.store(
                Array(simulation.signedDeliveries(by: bench.authority)) + [unknown.signed(by: bench.authority)])
            try await bench.workOff(batch: 7)
            let counted = try await bench.outbox.conservation()
            #expect(
                counted
                    == Conservation(
                        received: 81, pending: 0, applied: 60, duplicate: 20, parked: 1, dead: 0, discarded: 0,
                        missing: 0, doubled: 0, acknowledged: 81))
            // Its signed parts are facts all the same.
            #expect(
                try await bench.value(
                    "select count(*) from storehook.subscriptions where original_transaction_id = \(unknown.transaction?.originalTransactionId)",
                    as: Int64.self) == 1)
        }
    }

    @Test(
        "isolates by halving the one row that the database refuses, and applies its neighbours",
        arguments: [1, 2, 7, 16])
    func offender(count: Int) async throws {
        try await withBench { bench in
            let tests = bench.tests(count)
            let offender = tests[count * 2 / 3]
            try await bench.refuse([offender.uuid], "22001")
            try await bench.store(tests.map(\.text))
            try await bench.workOff()
            let letters = try await bench.letters()
            #expect(letters.map(\.notificationUUID) == [offender.uuid])
            #expect(letters.first?.reason == "sqlstate_22001")
            #expect(letters.first?.category == .unprocessable)
            #expect(letters.first?.type == "TEST")
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == Int64(count - 1) && counted.dead == 1)
            #expect(counted.missing == 0 && counted.doubled == 0)
        }
    }

    @Test("tries again after a passing fault, and applies once")
    func transient() async throws {
        try await withBench { bench in
            let tests = bench.tests(5)
            // What a sequence hands out survives the rollback, so the fault passes after the third time.
            try await bench.install(
                """
                create sequence storehook.faults;
                create function storehook.fail_sometimes() returns trigger language plpgsql as $$ begin
                    if nextval('storehook.faults') <= 3 then raise exception 'not now' using errcode = '40001'; end if;
                    return new;
                end $$;
                create trigger fail_sometimes before insert on storehook.notifications
                   for each row execute function storehook.fail_sometimes();
                """)
            try await bench.store(tests.map(\.text))
            try await bench.workOff()
            #expect(try await bench.letters().isEmpty)
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 5 && counted.missing == 0 && counted.doubled == 0)
        }
    }

    @Test("settles nothing that another has taken over in the meantime")
    func lostLease() async throws {
        try await withBench { bench in
            let tests = bench.tests(2)
            let gate = try await Gate(bench, holding: tests[0].uuid)
            try await bench.store(tests.map(\.text))
            try await bench.withWorker(batch: 1) { _ in
                // The first row's transaction waits at the gate; the second row has been claimed ahead.
                try await gate.untilReached()
                try await eventually("the second row is claimed ahead") { try await bench.claimed() == 2 }
                // The first row is in the waiting transaction's hands.
                try await bench.pool.query(
                    """
                    update storehook.outbox_queue set due_at = now()
                     where id in (select id from storehook.outbox_queue for update skip locked)
                    """)
                let mine = Lease(owner: "another", duration: .seconds(60))
                let taken = try await bench.outbox.claim(2, for: mine).rows
                #expect(taken.count == 1 && taken.allSatisfy { $0.attempts == 2 && $0.lapsed })
                await gate.open()
                try await eventually("the first row is applied") { try await bench.outbox.conservation().applied == 1 }
                let row = try await bench.pool.query(
                    "select lease_owner, attempts from storehook.outbox_queue where id = \(taken[0].id)"
                ).one().values(String?.self, Int16.self)
                #expect(row == ("another", 2))
                #expect(try await bench.outbox.conservation().applied == 1)
                try await bench.outbox.queue.release(taken.map(\.id), token: mine.token)
                try await bench.untilDone()
            }
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 2 && counted.missing == 0 && counted.doubled == 0)
        }
    }

    @Test("when stopped finishes what is in hand and gives back what it has not begun, attempts uncounted")
    func gracefulStop() async throws {
        try await withBench { bench in
            let tests = bench.tests(2)
            let gate = try await Gate(bench, holding: tests[0].uuid)
            try await bench.store(tests.map(\.text))
            try await bench.withWorker(batch: 1) { running in
                try await gate.untilReached()
                try await eventually("the second row is claimed ahead") { try await bench.claimed() == 2 }
                await running.services.triggerGracefulShutdown()
                try await eventually("the worker has been told to stop") { running.worker.isStopping }
                await gate.open()
            }
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 1 && counted.pending == 1)
            let row = try await bench.pool.query(
                "select attempts, lease_token, due_at <= now() from storehook.outbox_queue"
            )
            .one().values(Int16.self, UUID?.self, Bool.self)
            #expect(row == (0, nil, true))
        }
    }

    @Test("ends when its task is cancelled, without a graceful shutdown", arguments: [true, false])
    func cancelled(databaseIsAway: Bool) async throws {
        try await withBench { bench in
            let proxy = try await DatabaseProxy(to: bench.database)
            let pool = PostgresPool(configuration: try proxy.configuration(), size: 2, logger: quiet)
            if databaseIsAway { proxy.refuse() }
            let worker = bench.worker(pool: pool)
            let working = Task { try await worker.run() }
            working.cancel()
            try await working.value
            await pool.close()
            proxy.refuse()
        }
    }

    @Test("hears of new notifications at once")
    func listening() async throws {
        try await withBench { bench in
            // So rare a look that only hearing explains the rest.
            try await bench.withWorker(listening: true, poll: .seconds(86_400)) { _ in
                for test in bench.tests(3) {
                    try await bench.store([test.text])
                    try await bench.untilDone()
                }
            }
            #expect(try await bench.outbox.conservation().applied == 3)
        }
    }

    @Test("finds new notifications without hearing of them")
    func polling() async throws {
        try await withBench { bench in
            try await bench.withWorker(listening: false) { _ in
                for test in bench.tests(3) {
                    try await bench.store([test.text])
                    try await bench.untilDone()
                }
            }
            #expect(try await bench.outbox.conservation().applied == 3)
        }
    }

    @Test("goes on by itself when the database was away or every connection was cut")
    func awayAndBack() async throws {
        try await withBench { bench in
            let proxy = try await DatabaseProxy(to: bench.database)
            let pool = PostgresPool(configuration: try proxy.configuration(), size: 2, logger: quiet)
            let tests = bench.tests(4)
            // A claim whose answer is cut off is held until its lease ends.
            try await bench.withWorker(lease: .seconds(3), pool: pool) { _ in
                try await bench.store([tests[0].text])
                try await bench.untilDone()
                proxy.refuse()
                try await bench.store([tests[1].text])
                try proxy.serve()
                try await bench.untilDone()
                for test in tests[2...] {
                    try await bench.pool.query(
                        """
                        select count(pg_terminate_backend(pid)) from pg_stat_activity
                         where datname = current_database() and pid <> pg_backend_pid()
                        """)
                    try await eventually("stored") { (try? await bench.store([test.text])) != nil }
                    try await eventually("the queue is empty") {
                        (try? await bench.value("select count(*) from storehook.outbox_queue", as: Int64.self)) == 0
                    }
                }
            }
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 4 && counted.missing == 0 && counted.doubled == 0)
            proxy.refuse()
        }
    }

    @Test("shares one queue with others: every notification is applied once, whoever gets it")
    func several() async throws {
        try await withBench { bench in
            let simulation = Simulation(
                seed: 5, subscribers: 6, notifications: 150, duplicatePercent: 20, order: .shuffled, endingAt: Bench.now
            )
            try await bench.store(Array(simulation.signedDeliveries(by: bench.authority)))
            try await bench.withWorker(batch: 5) { _ in
                try await bench.withWorker(batch: 7) { _ in
                    try await bench.withWorker(batch: 11) { _ in try await bench.untilDone() }
                }
            }
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied + counted.parked == 120 && counted.duplicate == 30)
            #expect(counted.missing == 0 && counted.doubled == 0 && counted.dead == 0)
        }
    }
}

/// Holds one notification's transaction up until it is opened.
private struct Gate {
    private let bench: Bench
    private let holder: PostgresConnection

    init(_ bench: Bench, holding uuid: UUID) async throws {
        self.bench = bench
        try await bench.install(
            """
            create function storehook.wait_at_gate() returns trigger language plpgsql as $$ begin
                if new.notification_uuid = '\(uuid.uuidString)' then perform pg_advisory_xact_lock(7); end if;
                return new;
            end $$;
            create trigger wait_at_gate before insert on storehook.notifications
               for each row execute function storehook.wait_at_gate();
            """)
        holder = try await PostgresConnection.connect(to: bench.database.configuration, logger: quiet)
        try await holder.query("select pg_advisory_lock(7)::text")
    }

    func untilReached() async throws {
        try await eventually("the transaction waits at the gate") {
            try await !bench.pool.query(
                """
                select 1 from pg_locks where locktype = 'advisory' and not granted
                   and database = (select oid from pg_database where datname = current_database())
                """
            ).isEmpty
        }
    }

    func open() async { await holder.close() }
}

extension Bench {
    /// Rows under a lease.
    fileprivate func claimed() async throws -> Int64 {
        try await value("select count(*) from storehook.outbox_queue where lease_token is not null")
    }
}
