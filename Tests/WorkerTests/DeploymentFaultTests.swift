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

    @Test("rows that are refused while their neighbours pass wait, one as well as several, and the worker is ready")
    func some() async throws {
        // Each waits out the worker's pauses; so they wait at the same time.
        try await withThrowingTaskGroup { group in
            for (state, refused) in [
                ("XX001", [4]), ("P0001", [2, 7]), ("42501", [0]), ("55000", [0, 1, 2, 9]),
            ] {
                group.addTask { try await wait(state, refused) }
            }
            try await group.waitForAll()
        }
    }

    private func wait(_ state: String, _ refused: [Int]) async throws {
        try await withBench { bench in
            let tests = bench.tests(10)
            try await bench.refuse(refused.map { tests[$0].uuid }, state)
            try await bench.store(tests.map(\.text))
            try await bench.withWorker { running in
                try await waiting(bench, for: "sqlstate_\(state.lowercased())", Int64(refused.count))
                let counted = try await bench.outbox.conservation()
                #expect(counted.applied == 10 - Int64(refused.count) && counted.dead == 0, "\(state)")
                #expect(running.worker.whyNotReady == nil, "\(state)")
                try await eventually("they were tried again for \(state), and no attempt is counted") {
                    try await bench.pool.query(
                        "select 1 from storehook.outbox_queue where refused_at < now() - interval '2 seconds' and due_at > refused_at + interval '2 seconds'"
                    ).count == refused.count
                }
                #expect(running.worker.whyNotReady == nil, "\(state)")
                #expect(
                    try await bench.value(
                        "select max(attempts - (lease_token is not null)::integer) from storehook.outbox_queue",
                        as: Int32.self) == 0, "\(state)")
                try await bench.install(RefusingTrigger().repair)
                try await bench.untilDone()
            }
            let counted = try await bench.outbox.conservation()
            #expect(counted.applied == 10 && counted.dead == 0 && counted.missing == 0, "\(state)")
        }
    }
}
