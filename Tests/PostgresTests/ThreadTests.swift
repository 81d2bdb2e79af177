import Foundation
import Postgres
import TestSupport
import Testing

@Suite("A connection's thread")
struct ThreadTests {
    /// How many threads of this process bear the name, and how many sockets and pipes it has.
    private func threads(named name: String) throws -> Int {
        let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        // A thread may end between the listing and the look.
        return tasks.count { task in
            (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == "\(name)\n"
        }
    }

    @Test("ends when the connection is closed, and after fifty of them none is left")
    func closed() async throws {
        try await withTestDatabase { database in
            let configuration = try PostgresConfiguration(url: named("closed", database))
            var connections: [PostgresConnection] = []
            for _ in 0..<50 {
                connections.append(try await PostgresConnection.connect(to: configuration, logger: quiet))
            }
            #expect(try threads(named: "pg-closed") == 50)
            for connection in connections { await connection.close() }
            while try threads(named: "pg-closed") > 0 { await Task.yield() }
            // Asking a closed connection is an error, not a wait for a thread that has gone.
            let error = await failure { try await connections[0].query("select 1") }
            #expect(error?.kind == .connection)
        }
    }

    @Test("ends when the connection is let go of, also one that was never made")
    func released() async throws {
        try await withTestDatabase { database in
            let configuration = try PostgresConfiguration(url: named("released", database))
            for _ in 0..<50 {
                _ = try await PostgresConnection.connect(to: configuration, logger: quiet).query("select 1")
                let refused = configuration.withDatabase("nowhere_at_all")
                _ = await failure { _ = try await PostgresConnection.connect(to: refused, logger: quiet) }
            }
            while try threads(named: "pg-released") > 0 { await Task.yield() }
        }
    }

    private func named(_ name: String, _ database: TestDatabase) -> String {
        let separator = database.url.contains("://") ? "&" : " "
        return "\(database.url)\(separator)application_name=\(name)"
    }
}
