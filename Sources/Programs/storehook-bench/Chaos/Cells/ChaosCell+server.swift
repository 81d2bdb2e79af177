import Glibc
import Logging
import Postgres

extension ChaosCell {
    static let connectionsExhausted = ChaosCell(name: "connections-exhausted", need: .server, seconds: 20) { site, _ in
        let hogs = try await everyConnection(of: site.database)
        // The worker that restarts now has to connect anew, and finds no free connection.
        site.workers[0].signal(SIGKILL)
        try await Task.sleep(for: .seconds(8))
        for hog in hogs { await hog.close() }
    }

    static let crashed = ChaosCell(name: "database-crashed", need: .server, seconds: 15) { _, server in
        server.crash()
    }

    static let stopped = ChaosCell(name: "database-stopped", need: .server, seconds: 18) { _, server in
        try await server.whileStopped { try await Task.sleep(for: .seconds(10)) }
    }

    static let readOnly = ChaosCell(name: "database-read-only", need: .server, seconds: 18) { site, _ in
        try await site.database.whileServer("default_transaction_read_only", is: "on") {
            try await Task.sleep(for: .seconds(10))
        }
    }

    /// Takes every connection that the server still has to give.
    private static func everyConnection(of database: BenchDatabase) async throws -> [PostgresConnection] {
        let logger = Logger(label: "chaos") { _ in SwiftLogNoOpLogHandler() }
        let configuration = try PostgresConfiguration(url: database.url)
        var taken: [PostgresConnection] = []
        while taken.count < 1000 {
            do {
                taken.append(try await PostgresConnection.connect(to: configuration, logger: logger))
            } catch {
                return taken
            }
        }
        return taken
    }
}
