import Foundation
import Glibc
import Postgres
import TestSupport
import Testing

@Suite("A program's health", .serialized)
struct HealthTests {
    @Test("of a worker follows the database: away, it says so and goes on answering; back, it is ready again by itself")
    func database() async throws {
        try await withSite { site in
            let proxy = try await DatabaseProxy(to: site.database)
            try await site.with(["work", "--metrics-port", "0"], ["DATABASE_URL": proxy.url]) { worker in
                let base = "http://127.0.0.1:\(try await worker.metricsPort())"
                try await eventually("it is ready") { try await fetch(base + "/readyz").status == 200 }
                proxy.refuse()
                try await eventually("it is not ready") { try await fetch(base + "/readyz").status == 503 }
                #expect(try await fetch(base + "/readyz").body == #"{"error":"the database is unavailable"}"#)
                #expect(try await fetch(base + "/healthz").status == 200)
                try await eventually("the errors are counted") {
                    let page = try await fetch(base + "/metrics").body
                    #expect(
                        page.contains("storehook_database_up 0\n") && page.contains("storehook_verify_seconds_count"))
                    return !page.contains(#"storehook_database_errors_total{sqlstate_class="08"} 0"#)
                }
                try proxy.serve()
                try await eventually("it is ready again") { try await fetch(base + "/readyz").status == 200 }
                try await eventually("the queue's depth is back") {
                    try await fetch(base + "/metrics").body.contains(#"storehook_queue_depth{state="ready"} 0"#)
                }
                worker.signal(SIGTERM)
                #expect(await worker.end() == .exited(0))
            }
            proxy.refuse()
        }
    }

    @Test("of a receiver follows the database as well, on the operations port alone")
    func receiver() async throws {
        try await withSite { site in
            let proxy = try await DatabaseProxy(to: site.database)
            let arguments = ["receive", "--port", "0", "--metrics-port", "0"]
            try await site.with(arguments, ["DATABASE_URL": proxy.url]) { receiver in
                let apple = "http://127.0.0.1:\(try #require(receiver.port))"
                let base = "http://127.0.0.1:\(try await receiver.metricsPort())"
                try await eventually("it is ready") { try await fetch(base + "/readyz").status == 200 }
                proxy.refuse()
                try await eventually("it is not ready") { try await fetch(base + "/readyz").status == 503 }
                #expect(try await fetch(base + "/readyz").body == #"{"error":"the database is unavailable"}"#)
                for place in [base, apple] { #expect(try await fetch(place + "/healthz").status == 200) }
                for path in ["/readyz", "/metrics"] { #expect(try await fetch(apple + path).status == 404) }
                #expect(try await fetch(base + "/webhooks/apple").status == 404)
                #expect(try await fetch(base + "/metrics").body.contains("storehook_database_up 0\n"))
                try proxy.serve()
                try await eventually("it is ready again") { try await fetch(base + "/readyz").status == 200 }
                receiver.signal(SIGTERM)
                #expect(await receiver.end() == .exited(0))
            }
            proxy.refuse()
        }
    }

    @Test("tells a schema that somebody brought forward meanwhile")
    func schema() async throws {
        try await withSite { site in
            let arguments = ["receive", "--port", "0", "--metrics-port", "0"]
            try await site.with(arguments) { receiver in
                let page = "http://127.0.0.1:\(try await receiver.metricsPort())/metrics"
                #expect(try await fetch(page).body.contains("storehook_schema_mismatch 0\n"))
            }
            let receiver = try site.start(arguments)
            try await receiver.untilUnderWay()
            try await site.pool.query(
                "insert into storehook.schema_migrations (version, name, checksum) values (9999, 'later', 'x')")
            let page = "http://127.0.0.1:\(try await receiver.metricsPort())/metrics"
            #expect(try await fetch(page).body.contains("storehook_schema_mismatch 1\n"))
            await receiver.discard()
        }
    }
}
