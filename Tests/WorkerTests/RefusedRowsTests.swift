import EvidenceStore
import Foundation
import Postgres
import StandInSupport
import TestSupport
import Testing
import Worker

@Suite("What PostgreSQL refuses to have settled")
struct RefusedRowsTests {
    private let patience = ClaimPolicy(maximumAttempts: 3, from: .milliseconds(10), upTo: .milliseconds(50))

    /// Faults of the database that an operator brings in by hand and takes out again, with the SQLSTATE of each.
    private static let added: [(fault: String, repair: String, state: String)] = [
        (RefusingTrigger().script, RefusingTrigger().repair, "P0001"),
        (
            "alter table storehook.notifications add constraint no_tests check (type <> 'TEST') not valid;",
            "alter table storehook.notifications drop constraint no_tests;", "23514"
        ),
        (
            "alter table storehook.notifications alter subtype set not null;",
            "alter table storehook.notifications alter subtype drop not null;", "23502"
        ),
        (
            "create unique index one_of_a_type on storehook.notifications (type) where notification_uuid <> 'aaaaaaaa-0000-4000-8000-000000000000'; "
                + "insert into storehook.notifications (notification_uuid, outbox_id, type, environment, bundle_id, signed_at, received_at, outcome) values (gen_random_uuid(), 0, 'TEST', 'Sandbox', 'a', now(), now(), 'applied');",
            "drop index storehook.one_of_a_type; delete from storehook.notifications where outbox_id = 0;", "23505"
        ),
        (
            "alter table storehook.notifications rename to elsewhere;",
            "alter table storehook.elsewhere rename to notifications;", "42P01"
        ),
    ]

    @Test("for an object that the migrations did not make is never buried, and is applied once that object is gone")
    func added() async throws {
        // Each waits out the worker's pauses; so they wait at the same time.
        try await withThrowingTaskGroup { group in
            for (fault, repair, state) in Self.added {
                group.addTask { try await wait(for: repair, of: fault, state) }
            }
            try await group.waitForAll()
        }
    }

    private func wait(for repair: String, of fault: String, _ state: String) async throws {
        try await withBench { bench in
            try await bench.install(fault)
            try await bench.store(bench.tests(20).map(\.text))
            try await bench.withWorker(batch: 7, retries: patience) { running in
                try await eventually("it is not ready for \(state), and says why") {
                    running.worker.whyNotReady?.contains(state) == true
                }
                try await eventually("some are tried again after \(state)") {
                    try await bench.value(
                        "select count(*) from storehook.outbox_queue where due_at > refused_at + interval '2 seconds'",
                        as: Int64.self) > 0
                }
                #expect(
                    try await bench.value(
                        "select max(attempts - (lease_token is not null)::integer) from storehook.outbox_queue",
                        as: Int32.self) == 0, "\(state)")
                #expect(try await bench.letters().isEmpty, "\(state)")
                try await bench.install(repair)
                try await bench.untilDone()
                try await eventually("it is ready again after \(state)") { running.worker.whyNotReady == nil }
            }
            let counted = try await bench.outbox.conservation()
            #expect(
                counted.applied == 20 && counted.dead == 0 && counted.missing == 0 && counted.doubled == 0, "\(state)")
        }
    }

    @Test(
        "as its own fault, while its neighbours pass, is buried at once",
        arguments: [
            ("22001", ""), ("21000", ""), ("54001", ""),
            ("23514", "table = 'notifications', schema = 'storehook', constraint = 'notifications_outcome_check'"),
            ("54000", "table = 'notifications', schema = 'storehook', constraint = 'notifications_pkey'"),
        ])
    func own(state: String, naming: String) async throws {
        try await withBench { bench in
            let tests = bench.tests(10)
            try await bench.refuse([tests[4].uuid], state, naming: naming)
            try await bench.store(tests.map(\.text))
            try await bench.workOff()
            let letters = try await bench.letters()
            #expect(letters.map(\.reason) == ["sqlstate_\(state.lowercased())"] && letters.first?.attempts == 1)
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 9 && counted.dead == 1 && counted.missing == 0)
        }
    }

    @Test("as its own fault, while no other row comes, has all its attempts and is buried then")
    func lone() async throws {
        try await withBench { bench in
            let tests = bench.tests(1)
            try await bench.install(RefusingTrigger(state: "22001").script)
            try await bench.store(tests.map(\.text))
            try await bench.withWorker(retries: patience) { running in
                try await bench.untilDone()
                #expect(running.worker.whyNotReady == nil)
            }
            let letter = try #require(try await bench.letters().first)
            #expect(letter.reason == "sqlstate_22001" && letter.attempts == 3)
        }
    }

    @Test("as its own fault is buried once another one was applied since, by another worker or in another batch")
    func later() async throws {
        try await withBench { bench in
            let tests = bench.tests(2)
            try await bench.refuse([tests[0].uuid], "22001")
            try await bench.store([tests[0].text])
            let slow = ClaimPolicy(maximumAttempts: 40, from: .seconds(600), upTo: .seconds(600))
            try await bench.withWorker(retries: slow) { _ in
                try await eventually("its attempt is counted") {
                    try await bench.pool.query(
                        "select 1 from storehook.outbox_queue where attempts = 1 and lease_token is null and last_reason = 'sqlstate_22001'"
                    ).count == 1
                }
            }
            #expect(try await bench.letters().isEmpty)
            try await bench.store([tests[1].text])
            try await bench.withWorker(retries: slow) { _ in
                try await eventually("the other one is applied") { try await bench.outbox.conservation().applied == 1 }
            }
            try await bench.pool.query("update storehook.outbox_queue set due_at = now()")
            try await bench.withWorker(retries: slow) { _ in try await bench.untilDone() }
            let letter = try #require(try await bench.letters().first)
            #expect(letter.reason == "sqlstate_22001" && letter.attempts == 2)
        }
    }

    @Test(
        "of several rows in the same way is not taken for their own fault: they have all their attempts, whatever worker meets it"
    )
    func several() async throws {
        try await withBench { bench in
            let tests = bench.tests(10)
            try await bench.refuse([tests[2].uuid, tests[7].uuid], "22001")
            try await bench.store(tests.map(\.text))
            let slow = ClaimPolicy(maximumAttempts: 40, from: .seconds(600), upTo: .seconds(600))
            try await bench.withWorker(retries: slow) { running in
                try await eventually("their attempts are counted") {
                    try await bench.pool.query(
                        "select 1 from storehook.outbox_queue where attempts = 1 and lease_token is null and last_reason = 'sqlstate_22001'"
                    ).count == 2
                }
                #expect(running.worker.whyNotReady == nil)
            }
            #expect(try await bench.letters().isEmpty)
            // A third one at another worker, with neighbours: the others met it a moment ago.
            let more = bench.tests(5, lane: 2)
            try await bench.refuse([more[3].uuid], "22001")
            try await bench.store(more.map(\.text))
            try await bench.withWorker(retries: slow) { _ in
                try await eventually("its attempt is counted") {
                    try await bench.pool.query(
                        "select 1 from storehook.outbox_queue where attempts = 1 and lease_token is null"
                    ).count == 3
                }
            }
            #expect(try await bench.letters().isEmpty)
            try await bench.pool.query("update storehook.outbox_queue set due_at = now(), attempts = 2")
            try await bench.install(RefusingTrigger(state: "22001").script)
            try await bench.withWorker(retries: patience) { _ in try await bench.untilDone() }
            #expect(try await bench.letters().map(\.attempts) == [3, 3, 3])
            #expect(try await bench.outbox.conservation().applied == 12)
        }
    }

    @Test("of everything by a code of rows makes the worker say so")
    func everything() async throws {
        try await withBench { bench in
            try await bench.install(RefusingTrigger(state: "22012").script)
            try await bench.store(bench.tests(5).map(\.text))
            let slow = ClaimPolicy(maximumAttempts: 40, from: .seconds(600), upTo: .seconds(600))
            try await bench.withWorker(retries: slow) { running in
                try await eventually("it is not ready, and says why") {
                    running.worker.whyNotReady?.contains("22012") == true
                }
            }
            #expect(try await bench.letters().isEmpty)
        }
    }

    @Test("as a dead letter waits, too, until the trigger that refuses it is gone")
    func letters() async throws {
        try await withBench { bench in
            let fault = RefusingTrigger(of: "dead_letters")
            try await bench.install(fault.script)
            try await bench.store(["not a JWS"] + bench.tests(3).map(\.text))
            try await bench.withWorker(retries: patience) { running in
                try await eventually("it waits", within: .seconds(20)) {
                    try await bench.pool.query(
                        "select 1 from storehook.outbox_queue where last_reason = 'sqlstate_p0001' and due_at > refused_at + interval '2 seconds' and attempts - (lease_token is not null)::integer = 0"
                    ).count == 1
                }
                #expect(running.worker.whyNotReady == nil)
                try await bench.install(fault.repair)
                try await bench.untilDone()
            }
            #expect(try await bench.letters().map(\.reason) == ["malformed"])
            #expect(try await bench.outbox.conservation().applied == 3)
        }
    }

    @Test("while rows are claimed is waited for, by a worker that has just begun as well")
    func claiming() async throws {
        try await withBench { bench in
            let fault = RefusingTrigger("update", of: "outbox_queue")
            try await bench.install(fault.script)
            try await bench.store(bench.tests(3).map(\.text))
            try await bench.withWorker { running in
                try await eventually("it is not ready, and says why") {
                    running.worker.whyNotReady?.contains("P0001") == true
                }
                try await bench.install(fault.repair)
                try await bench.untilDone()
                try await eventually("it is ready") { running.worker.whyNotReady == nil }
            }
            #expect(try await bench.outbox.conservation().applied == 3)
        }
    }

    @Test("holds up nothing else: hundreds that are refused cost a batch a few transactions")
    func many() async throws {
        try await withBench { bench in
            let refused = bench.tests(300)
            try await bench.refuse(refused.map(\.uuid), "P0001")
            try await bench.store(refused.map(\.text))
            try await bench.withWorker { _ in
                try await eventually("all of them were refused", within: .seconds(60)) {
                    try await bench.value(
                        "select count(*) from storehook.outbox_queue where last_reason = 'sqlstate_p0001'",
                        as: Int64.self) == 300
                }
            }
            try await bench.pool.query("update storehook.outbox_queue set due_at = now() - interval '1 minute'")
            try await bench.store(bench.tests(100, lane: 2).map(\.text))
            let rolledBack: PostgresQuery =
                "select pg_stat_get_db_xact_rollback(oid) from pg_database where datname = current_database()"
            let before = try await bench.value(rolledBack, as: Int64.self)
            try await bench.withWorker { _ in
                try await eventually("the others are applied", within: .seconds(20)) {
                    try await bench.outbox.conservation().applied == 100
                }
            }
            // Sessions report what they did when they end.
            try await Task.sleep(for: .milliseconds(500))
            let rollbacks = try await bench.value(rolledBack, as: Int64.self) - before
            #expect(rollbacks <= 60, "\(rollbacks) transactions were rolled back")
        }
    }
}
