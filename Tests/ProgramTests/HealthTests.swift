import Foundation
import Glibc
import Postgres
import TestSupport
import Testing

@Suite("A worker's health", .serialized)
struct HealthTests {
    @Test("follows the database: away, it says so and goes on answering; back, it is ready again by itself")
    func database() async throws {
        try await withSite { site in
            let proxy = try await DatabaseProxy(to: site.database)
            try await site.with(["work", "--metrics-port", "0"], ["DATABASE_URL": proxy.url]) { worker in
                let base = "http://127.0.0.1:\(try await worker.metricsPort())"
                try await eventually("it is ready") { try await fetch(base + "/readyz").status == 200 }
                proxy.refuse()
                try await eventually("it is not ready") { try await fetch(base + "/readyz").status == 503 }
                #expect(try await fetch(base + "/readyz").body == "the database is unavailable\n")
                #expect(try await fetch(base + "/healthz").status == 200)
                try await eventually("the errors are counted") {
                    let page = try await fetch(base + "/metrics").body
                    #expect(
                        page.contains("storehook_database_up 0\n") && page.contains("storehook_verify_seconds_count"))
                    return !page.contains(#"storehook_database_errors_total{sqlstate_class="08"} 0"#)
                }
                try proxy.serve()
                try await eventually("it is ready again") { try await fetch(base + "/readyz").status == 200 }
                #expect(try await fetch(base + "/metrics").body.contains(#"storehook_queue_depth{state="ready"} 0"#))
                worker.signal(SIGTERM)
                #expect(await worker.end() == .exited(0))
            }
            proxy.refuse()
        }
    }

    @Test("a schema that somebody brought forward meanwhile is told")
    func schema() async throws {
        try await withSite { site in
            try await site.with(["receive", "--port", "0"]) { receiver in
                let page = "http://127.0.0.1:\(try #require(receiver.port))/metrics"
                #expect(try await fetch(page).body.contains("storehook_schema_mismatch 0\n"))
            }
            let receiver = try site.start(["receive", "--port", "0"])
            try await receiver.untilUnderWay()
            try await site.pool.query(
                "insert into storehook.schema_migrations (version, name, checksum) values (9999, 'later', 'x')")
            let page = "http://127.0.0.1:\(try #require(receiver.port))/metrics"
            #expect(try await fetch(page).body.contains("storehook_schema_mismatch 1\n"))
            await receiver.discard()
        }
    }

    @Test("a port that is taken ends it with one line that says so")
    func takenPort() async throws {
        try await withSite { site in
            let holder = try await DatabaseProxy(to: site.database)
            let outcome = try await site.run(
                "work", "--metrics-port", "\(holder.port)", with: ["STOREHOOK_LOG_LEVEL": "error"])
            #expect(outcome.ending == .exited(1))
            #expect(outcome.errors.contains("ddress already in use"), "\(outcome.errors)")
            #expect(outcome.errorLines == 1, "\(outcome.errors)")
            holder.refuse()
        }
    }
}
