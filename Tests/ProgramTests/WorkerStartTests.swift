import Foundation
import Postgres
import Schema
import TestSupport
import Testing

@Suite("A worker whose database is away at its start", .serialized)
struct WorkerStartTests {
    /// Runs `body` with a server that has been migrated and stopped.
    private func withStoppedServer(
        migrated: Bool = true, _ body: (Site, PrivateServer, [String: String]) async throws -> Void
    ) async throws {
        try await PrivateServer.with { server in
            try await withSite { site in
                let own = ["DATABASE_URL": server.url, "STOREHOOK_LOG_LEVEL": "info"]
                if migrated { #expect(try await site.run("migrate", with: own).ending == .exited(0)) }
                await server.stop()
                try await body(site, server, own)
            }
        }
    }

    private func untilItWaits(_ worker: ChildProgram) async throws {
        try await eventually("it says that it waits") {
            if let ending = worker.ending { throw NeverHappened("it waits: \(ending) \(worker.errors)") }
            return worker.errors.contains("beginning once it is back")
        }
    }

    @Test("waits for it, says so on its ports, and works once it is there")
    func waits() async throws {
        try await withStoppedServer { site, server, own in
            let worker = try site.start(["work", "--metrics-port", "0"], own)
            try await untilItWaits(worker)
            let operations = "http://127.0.0.1:\(try await worker.metricsPort())"
            #expect(try await fetch(operations + "/healthz").status == 200)
            #expect(try await fetch(operations + "/readyz").status == 503)
            #expect(!worker.errors.contains(#""message":"Working""#))
            try await server.startAgain()
            try await worker.untilUnderWay()
            try await eventually("it is ready") { try await fetch(operations + "/readyz").status == 200 }
            // Once, not a line for each attempt.
            #expect(worker.errors.components(separatedBy: "beginning once it is back").count == 2)
            worker.signal(SIGTERM)
            #expect(await worker.end() == .exited(0), "\(worker.errors)")
            await worker.discard()
        }
    }

    @Test("stops while it waits")
    func stops() async throws {
        try await withStoppedServer { site, _, own in
            let worker = try site.start(["work", "--metrics-port", "0"], own)
            try await untilItWaits(worker)
            _ = try await worker.metricsPort()
            worker.signal(SIGTERM)
            #expect(await worker.end() == .exited(0), "\(worker.errors)")
            await worker.discard()
        }
    }

    @Test("ends as ever where the database that comes back has no schema that fits")
    func misfit() async throws {
        try await withStoppedServer(migrated: false) { site, server, own in
            let worker = try site.start(["work"], own)
            try await untilItWaits(worker)
            try await server.startAgain()
            #expect(await worker.end() == .exited(57), "\(worker.errors)")
            await worker.discard()
        }
    }

    @Test(
        "does not wait for what waiting does not mend: a refused login, a missing database, parameters that cannot be used"
    )
    func refused() async throws {
        try await withSite { site in
            // What comes last wins.
            for (parameter, word) in [
                ("user=nobody_here", "28"), ("dbname=not_there_at_all", "3D000"), ("sslmode=odd", "sslmode"),
            ] {
                let url = site.database.url + (site.database.url.contains("://") ? "&" : " ") + parameter
                let worker = try site.start(["work"], ["DATABASE_URL": url])
                let ending = await worker.end()
                #expect(ending == .exited(1), "\(word): \(worker.errors)")
                #expect(worker.errors.contains(word) && !worker.errors.contains("beginning once"), "\(worker.errors)")
                await worker.discard()
            }
        }
    }
}
