import AsyncHTTPClient
import Base
import EvidenceStore
import Foundation
import HTTPKit
import Logging
import NIOCore
import NIOHTTP1
import Postgres
import Schema
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import Monitoring

@Suite("The operations port of a program with a database")
struct OperationsPageTests {
    private struct Answer {
        var status: UInt
        var type: String?
        var body: String
    }

    /// A store without a statement of its own.
    private struct Anomalies: MonitoredStore {
        static let monitored = "anomalies"
        var kept: [MetricSample]

        func samples() -> [MetricSample] { kept }
    }

    /// Runs a server on a monitor over `pool`.
    private func withServer(
        _ pool: PostgresPool, schemaFits: @escaping @Sendable () async throws -> Bool = { true },
        samples: [MetricSample] = [],
        _ body: (@Sendable (_ method: HTTPMethod, _ path: String) async throws -> Answer) async throws -> Void
    ) async throws {
        let monitor = Monitor(
            .init(name: "worker", schema: 4), registry: MetricsRegistry(MetricFamily.storehook), pool: pool,
            schemaFits: schemaFits, stores: [(Anomalies(kept: samples), .seconds(30))])
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let server = OperationsServer(
            host: "127.0.0.1", port: 0, logger: quiet,
            readiness: { await monitor.whyDatabaseIsNotReady() },
            exposition: { await monitor.exposition() }, onListening: { listening.yield($0) })
        let services = ServiceGroup(services: [server], logger: quiet)
        let running = Task { try await services.run() }
        var iterator = ports.makeAsyncIterator()
        guard let port = await iterator.next() else { throw NeverHappened("the server listens") }
        let result = await Result {
            try await body { method, path in
                var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
                request.method = method
                let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
                return Answer(
                    status: response.status.code, type: response.headers.first(name: "Content-Type"),
                    body: String(buffer: try await response.body.collect(upTo: 1 << 20)))
            }
        }
        await services.triggerGracefulShutdown()
        try await running.value
        try result.get()
    }

    @Test("tells the queue's depth and age for all four states, the schema, and itself")
    func page() async throws {
        try await withMigratedDatabase(Schema.migrations, then: "select storehook.ensure_outbox_partitions()") {
            database in
            let pool = PostgresPool(configuration: database.configuration, size: 1, logger: quiet)
            try await Outbox(pool).store([Array("a".utf8), Array("b".utf8)])
            let anomalies = [("period_missing", 3.0), ("upgrade_missing", 0)].map { kind, count in
                MetricSample("storehook_anomalies", [("kind", kind)], count)
            }
            try await withServer(pool, samples: anomalies) { request async throws in
                let page = try await request(.GET, "/metrics")
                #expect(page.status == 200)
                #expect(page.type == "text/plain; version=0.0.4; charset=utf-8")
                for line in [
                    #"storehook_queue_depth{state="ready"} 2"#, #"storehook_queue_depth{state="scheduled"} 0"#,
                    #"storehook_queue_depth{state="leased"} 0"#, #"storehook_queue_depth{state="dead"} 0"#,
                    #"storehook_queue_oldest_age_seconds{state="dead"} 0"#, "storehook_database_up 1",
                    "storehook_schema_mismatch 0", #"storehook_anomalies{kind="period_missing"} 3"#,
                    #"storehook_anomalies{kind="upgrade_missing"} 0"#,
                    "storehook_build_info{commit=\"unknown\",program=\"worker\",schema_version=\"4\",version=\"\(Release.version)\"} 1",
                ] { #expect(page.body.contains(line + "\n"), "\(line)") }
                for name in ["cpu_seconds_total", "resident_memory_bytes", "open_fds", "start_time_seconds"] {
                    #expect(page.body.contains("\nprocess_\(name) "), "\(name)")
                }
            }
            await pool.close()
        }
    }

    @Test("answers without the database: with what is known, and that the database is unavailable")
    func away() async throws {
        // No server listens on port 1.
        let pool = PostgresPool(
            configuration: try PostgresConfiguration(url: "postgresql://x@127.0.0.1:1/x"), size: 1, logger: quiet)
        try await withServer(pool, schemaFits: { throw NeverHappened("an answer") }) { request async throws in
            let page = try await request(.GET, "/metrics")
            #expect(page.status == 200)
            #expect(page.body.contains("storehook_database_up 0\n") && page.body.contains("process_open_fds"))
            #expect(!page.body.contains("storehook_queue_depth") && !page.body.contains("storehook_schema_mismatch"))
        }
        await pool.close()
    }

    @Test("tells that the database is up while the queue cannot be counted, and the rest in the meantime")
    func locked() async throws {
        try await withMigratedDatabase(Schema.migrations) { database in
            let pool = PostgresPool(configuration: database.configuration, size: 2, logger: quiet)
            let held = try await HeldTransaction(
                in: database, "lock table storehook.outbox_queue in access exclusive mode")
            try await withServer(pool) { request async throws in
                for _ in 0..<2 {
                    let page = try await request(.GET, "/metrics").body
                    #expect(
                        page.contains("storehook_database_up 1\n") && page.contains("storehook_schema_mismatch 0\n"))
                    #expect(!page.contains("storehook_queue_depth"))
                }
                try await held.release()
                try await eventually("it is counted") {
                    try await request(.GET, "/metrics").body.contains(#"storehook_queue_depth{state="ready"} 0"#)
                }
            }
            await pool.close()
        }
    }

    @Test(
        "says of a role that may not see the queue that its database is there, and leaves no refusal in the server's log"
    )
    func blind() async throws {
        try await withMigratedDatabase(Schema.migrations) { database in
            let refusals = Atomic(0)
            let pool = PostgresPool(configuration: database.configuration, size: 1, logger: quiet) { _ in
                refusals.wrappingAdd(1, ordering: .relaxed)
            }
            let role = "blind_\(database.name)"
            try await pool.query("create role \(unescaped: role)")
            try await pool.query("grant usage on schema storehook to \(unescaped: role)")
            try await pool.query("set session authorization \(unescaped: role)")
            let anomalies = [MetricSample("storehook_anomalies", [("kind", "period_missing")], 3)]
            try await withServer(pool, samples: anomalies) { request async throws in
                let page = try await request(.GET, "/metrics")
                #expect(page.body.contains("storehook_database_up 1\n"))
                #expect(!page.body.contains("storehook_queue_depth") && !page.body.contains("storehook_anomalies"))
            }
            #expect(refusals.load(ordering: .relaxed) == 0)
            try await pool.query("reset session authorization")
            try await pool.query("drop owned by \(unescaped: role)")
            try await pool.query("drop role \(unescaped: role)")
            await pool.close()
        }
    }

    @Test("says that a schema does not fit any more")
    func mismatch() async throws {
        try await withMigratedDatabase(Schema.migrations) { database in
            let pool = PostgresPool(configuration: database.configuration, size: 1, logger: quiet)
            try await withServer(pool, schemaFits: { false }) { request async throws in
                #expect(try await request(.GET, "/metrics").body.contains("storehook_schema_mismatch 1\n"))
            }
            await pool.close()
        }
    }

    @Test("is alive whatever happens, and not ready while the database is unavailable")
    func health() async throws {
        let pool = PostgresPool(
            configuration: try PostgresConfiguration(url: "postgresql://x@127.0.0.1:1/x"), size: 1, logger: quiet)
        try await withServer(pool) { request async throws in
            #expect(try await request(.GET, "/healthz").status == 200)
            let refusal = try await request(.GET, "/readyz")
            #expect(refusal.status == 503 && refusal.body == #"{"error":"the database is unavailable"}"#)
        }
        await pool.close()
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
