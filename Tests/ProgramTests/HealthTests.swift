import AsyncHTTPClient
import EvidenceStore
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import Postgres
import Simulation
import TestSupport
import Testing

@Suite("A program's health", .serialized)
struct HealthTests {
    /// Posts a JWS as Apple does.
    private func post(_ url: String, _ jws: String) async throws -> UInt {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.body = .bytes(ByteBuffer(string: #"{"signedPayload":"\#(jws)"}"#))
        return try await client.execute(request, timeout: .seconds(60)).status.code
    }

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

    @Test("of a worker names what the database refuses to have applied, and why, until it refuses nothing")
    func refused() async throws {
        try await withSite { site in
            let fault = RefusingTrigger()
            try await site.pool.withTransaction { try $0.executeScript(fault.script) }
            let simulation = Simulation(seed: 3, subscribers: 2, notifications: 5, endingAt: Site.now)
            try await site.outbox.store(simulation.signedDeliveries(by: site.authority).map { Array($0.utf8) })
            try await site.with(["work", "--metrics-port", "0"]) { worker in
                let base = "http://127.0.0.1:\(try await worker.metricsPort())"
                try await eventually("it is not ready, and says why") {
                    let answer = try await fetch(base + "/readyz")
                    return answer.status == 503 && answer.body.contains("P0001")
                }
                try await eventually("the page names the code") {
                    try await fetch(base + "/metrics").body.contains(
                        #"storehook_queue_refused{reason="sqlstate_p0"} 5"#)
                }
                try await site.pool.withTransaction { try $0.executeScript(fault.repair) }
                try await site.untilDone()
                try await eventually("it is ready again") { try await fetch(base + "/readyz").status == 200 }
                try await eventually("the page names none") {
                    try await !fetch(base + "/metrics").body.contains("storehook_queue_refused{")
                }
            }
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

    @Test(
        "of a receiver and a worker follows whether the database takes writes, and both go on by themselves once it does"
    )
    func readOnly() async throws {
        try await withSite { site in
            let receiving = ["receive", "--port", "0", "--metrics-port", "0"]
            try await site.with(receiving) { receiver in
                try await site.with(["work", "--metrics-port", "0"]) { worker in
                    let apple = "http://127.0.0.1:\(try #require(receiver.port))/webhooks/apple"
                    let pages = [
                        "http://127.0.0.1:\(try await receiver.metricsPort())/readyz",
                        "http://127.0.0.1:\(try await worker.metricsPort())/readyz",
                    ]
                    func readiness() async throws -> [String] {
                        var answers: [String] = []
                        for page in pages { answers.append(try await fetch(page).body) }
                        return answers
                    }
                    try await eventually("both are ready") { try await readiness() == ["", ""] }
                    func set(_ state: String) async throws {
                        try await site.pool.query(
                            """
                            alter database \(unescaped: site.database.name)
                              set default_transaction_read_only = \(unescaped: state)
                            """)
                        // As after a failover: no client keeps a connection.
                        try await site.pool.query(
                            """
                            select pg_terminate_backend(pid) from pg_stat_activity
                             where datname = current_database() and pid <> pg_backend_pid()
                            """)
                    }
                    // The statement that undoes it must not need what it undoes.
                    try await set("on")
                    let refusal = #"{"error":"the database takes no writes: it is a standby, or read-only"}"#
                    try await eventually("both say that it takes no writes") {
                        try await readiness() == [refusal, refusal]
                    }
                    #expect(try await post(apple, "while.it.only.reads") == 503)
                    let administrator = try await PostgresConnection.connect(
                        to: site.database.configuration.withDatabase("postgres"), logger: quiet)
                    try await administrator.query(
                        "alter database \(unescaped: site.database.name) reset default_transaction_read_only")
                    await administrator.close()
                    try await eventually("both are ready again") { try await readiness() == ["", ""] }
                    try await eventually("posts are stored again") { try await post(apple, "a.b.c") == 200 }
                }
            }
        }
    }

    @Test("of a receiver that started before its database says so until the schema fits, and it stores nothing before")
    func schemaSeenLater() async throws {
        try await withSite { site in
            let proxy = try await DatabaseProxy(to: site.database)
            proxy.refuse()
            try await site.pool.query(
                "insert into storehook.schema_migrations (version, name, checksum) values (9999, 'later', 'x')")
            let arguments = ["receive", "--port", "0", "--metrics-port", "0"]
            try await site.with(arguments, ["DATABASE_URL": proxy.url]) { receiver in
                let apple = "http://127.0.0.1:\(try #require(receiver.port))/webhooks/apple"
                let ready = "http://127.0.0.1:\(try await receiver.metricsPort())/readyz"
                #expect(try await post(apple, "a.b.c") == 503)
                try proxy.serve()
                try await eventually("it says what does not fit") {
                    try await fetch(ready).body.contains("this program knows")
                }
                for _ in 0..<3 { #expect(try await post(apple, "a.b.c") == 503) }
                #expect(try await site.pool.query("select 1 from storehook.outbox").isEmpty)
                try await site.pool.query("delete from storehook.schema_migrations where version = 9999")
                try await eventually("it is ready") { try await fetch(ready).status == 200 }
                #expect(try await post(apple, "a.b.c") == 200)
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
