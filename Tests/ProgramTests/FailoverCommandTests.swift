import Foundation
import Postgres
import TestSupport
import Testing

/// What libpq reads of hosts beside the connection string, each with a first address that takes connections and never answers.
@Suite("Hosts of a service file and of libpq's variables")
struct FailoverCommandTests {
    private func environment(_ form: String, _ site: Site, mute: Int) throws -> [String: String] {
        let server = try #require(URLComponents(string: site.database.url))
        let port = server.port ?? 5432
        let login = ["PGUSER": server.user ?? "", "PGPASSWORD": server.password ?? "", "PGCONNECT_TIMEOUT": "1"]
        let database = "dbname=\(site.database.name)"
        switch form {
        case "PGHOST":
            return login.merging([
                "DATABASE_URL": database, "PGHOST": "127.0.0.1,127.0.0.1", "PGPORT": "\(mute),\(port)",
            ]) { $1 }
        case "PGHOSTADDR":
            return login.merging(
                [
                    "DATABASE_URL": "postgresql:///\(site.database.name)", "PGHOSTADDR": "127.0.0.1,127.0.0.1",
                    "PGPORT": "\(mute),\(port)",
                ]
            ) { $1 }
        default:
            let file = FileManager.default.temporaryDirectory.appending(path: "storehook-service-\(UUID().uuidString)")
            try Data(
                """
                [odd]
                host=127.0.0.9
                [storehook]
                host=127.0.0.1,127.0.0.1
                port=\(mute),\(port)
                user=\(server.user ?? "")
                password=\(server.password ?? "none")
                dbname=\(site.database.name)
                connect_timeout=1
                """.utf8
            ).write(to: file)
            let own =
                form == "PGSERVICE"
                ? ["PGSERVICE": "storehook", "DATABASE_URL": "application_name=storehook"]
                : ["DATABASE_URL": "postgresql://?service=storehook"]
            return own.merging(["PGSERVICEFILE": file.path]) { $1 }
        }
    }

    @Test("are tried one after the other, by commands and by programs that stay")
    func hosts() async throws {
        try await withSite { site in
            let (socket, mute) = try TCPSocket.listening(port: 0)
            defer { socket.close() }
            // Each waits for the mute address again and again; so they wait at the same time.
            try await withThrowingTaskGroup { group in
                for form in ["PGHOST", "PGHOSTADDR", "PGSERVICE", "service"] {
                    group.addTask { try await connect(form, site, mute: mute) }
                }
                try await group.waitForAll()
            }
        }
    }

    private func connect(_ form: String, _ site: Site, mute: Int) async throws {
        let own = try environment(form, site, mute: mute)
        defer { if let file = own["PGSERVICEFILE"] { try? FileManager.default.removeItem(atPath: file) } }
        let queue = try await site.run("queue", with: own)
        #expect(queue.ending == .exited(0), "\(form): \(queue.errors)")
        try await site.with(["receive", "--port", "0", "--metrics-port", "0"], own) { receiver in
            let operations = "http://127.0.0.1:\(try await receiver.metricsPort())"
            try await eventually("it is ready with \(form)") { try await fetch(operations + "/readyz").status == 200 }
        }
    }

    @Test("a service that is not there is said to be missing")
    func missing() async throws {
        try await withSite { site in
            let queue = try await site.run("queue", with: ["DATABASE_URL": "service=there_is_no_such"])
            #expect(queue.ending != .exited(0) && queue.errors.contains("no such service"), "\(queue.errors)")
        }
    }
}
