import EvidenceStore
import Foundation
import Postgres
import PurchaseStore
import ServiceLifecycle
import Simulation
import StandInSupport
import TestSupport
import Testing
import Worker

@Suite("While the database refuses a worker for a reason of the deployment")
struct DeploymentFaultTests {
    /// A user of the test's own who may what a worker may, until something is taken from it.
    private func withLogin(
        _ bench: Bench, _ body: (_ pool: PostgresPool, _ name: String) async throws -> Void
    ) async throws {
        let name = "w_\(UUID().uuidString.replacing("-", with: "").lowercased())"
        let password = UUID().uuidString
        try await bench.install(
            """
            create role \(name) login password '\(password)';
            grant usage on schema storehook to \(name);
            grant all on all tables in schema storehook to \(name);
            grant all on all sequences in schema storehook to \(name);
            grant execute on all functions in schema storehook to \(name);
            """)
        let separator = bench.database.url.contains("?") ? "&" : "?"
        let pool = PostgresPool(
            configuration: try PostgresConfiguration(
                url: "\(bench.database.url)\(separator)user=\(name)&password=\(password)"),
            size: 3, logger: quiet)
        let result: Result<Void, any Error>
        do { result = .success(try await body(pool, name)) } catch { result = .failure(error) }
        await pool.close()
        try await bench.install("drop owned by \(name); drop role \(name);")
        try result.get()
    }

    private func waiting(_ bench: Bench, for reason: String, _ count: Int64) async throws {
        try await eventually("\(count) wait for \(reason)") {
            try await bench.value(
                "select coalesce((select count from storehook.queue_waiting where reason = \(reason)), 0)",
                as: Int64.self) == count
        }
    }

    @Test("nothing is buried, it is not ready and says why, and all is applied once it is put right")
    func revoked() async throws {
        try await withBench { bench in
            try await withLogin(bench) { pool, name in
                try await bench.install("revoke insert on storehook.notifications from \(name);")
                try await bench.store(bench.tests(30).map(\.text))
                try await bench.withWorker(batch: 10, pool: pool) { running in
                    try await eventually("it is not ready, and says why") {
                        running.worker.whyNotReady?.contains("42501") == true
                    }
                    // It leaves the queue alone for longer and longer; whatever it looked at waits.
                    try await eventually("some wait") {
                        try await !bench.pool.query(
                            "select 1 from storehook.queue_waiting where reason = 'sqlstate_42501'"
                        ).isEmpty
                    }
                    let counted = try await bench.outbox.conservation()
                    #expect(counted.pending == 30 && counted.dead == 0)
                    try await bench.install("grant insert on storehook.notifications to \(name);")
                    try await bench.untilDone()
                    try await eventually("it is ready") { running.worker.whyNotReady == nil }
                }
                let counted = try await bench.outbox.conservation()
                #expect(counted.applied == 30 && counted.dead == 0 && counted.missing == 0 && counted.doubled == 0)
            }
        }
    }

    @Test("claiming included: it goes on by itself")
    func claiming() async throws {
        try await withBench { bench in
            try await withLogin(bench) { pool, name in
                try await bench.store(bench.tests(3).map(\.text))
                try await bench.withWorker(pool: pool) { running in
                    try await bench.untilDone()
                    try await bench.install("revoke update on storehook.outbox_queue from \(name);")
                    try await bench.store(bench.tests(3, lane: 2).map(\.text))
                    try await eventually("it is not ready, and says why") {
                        running.worker.whyNotReady?.contains("42501") == true
                    }
                    try await bench.install("grant update on storehook.outbox_queue to \(name);")
                    try await bench.untilDone()
                    #expect(running.worker.whyNotReady == nil)
                }
                #expect(try await bench.outbox.conservation().applied == 6)
            }
        }
    }

    /// Refuses some with an SQLSTATE, which is that of a broken index or of a missing right.
    private func refusing(_ condition: String, _ state: String) -> String {
        """
        create or replace function storehook.refuse() returns trigger language plpgsql as $$ begin
            if \(condition) then raise exception 'refused' using errcode = '\(state)'; end if;
            return new;
        end $$;
        create or replace trigger refuse before insert on storehook.notifications
           for each row execute function storehook.refuse();
        """
    }

    @Test("the one that fails alone while its neighbours pass is buried")
    func alone() async throws {
        try await withBench { bench in
            let tests = bench.tests(10)
            try await bench.install(refusing("new.notification_uuid = '\(tests[4].uuid)'", "XX001"))
            try await bench.store(tests.map(\.text))
            try await bench.workOff()
            #expect(try await bench.letters().map(\.reason) == ["sqlstate_xx001"])
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 9 && counted.dead == 1)
        }
    }

    @Test("some that fail together wait while their neighbours pass, and so does one that fails for want of a right")
    func together() async throws {
        try await withBench { bench in
            let tests = bench.tests(10)
            let two = "new.notification_uuid in ('\(tests[2].uuid)', '\(tests[7].uuid)')"
            try await bench.install(refusing(two, "XX001"))
            try await bench.store(tests.map(\.text))
            try await bench.withWorker { running in
                try await waiting(bench, for: "sqlstate_xx001", 2)
                // The rows are put off a moment before the worker notes why.
                try await eventually("the worker says why") {
                    running.worker.whyNotReady?.contains("XX001") == true
                }
                #expect(try await bench.outbox.conservation().applied == 8)
                // Those two, come again, fail with nobody beside them.
                try await bench.install(refusing("false", "XX001"))
                try await bench.untilDone()
            }
            let more = bench.tests(5, lane: 2)
            try await bench.install(refusing("new.notification_uuid = '\(more[0].uuid)'", "42501"))
            try await bench.store(more.map(\.text))
            try await bench.withWorker { _ in
                try await waiting(bench, for: "sqlstate_42501", 1)
                try await bench.install(refusing("false", "42501"))
                try await bench.untilDone()
            }
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 15 && counted.dead == 0 && counted.missing == 0)
        }
    }
}
