import Foundation
import Glibc
import Logging
import Postgres

/// One thing that goes wrong while notifications come in.
struct ChaosCell: Sendable {
    /// What a cell can do only to a server of its own.
    enum Need: Sendable { case nothing, server, volume }

    let name: String
    let need: Need
    /// How long notifications are posted, in seconds.
    let seconds: Int
    /// Does it, and returns when it is over.
    let fault: @Sendable (ChaosSite, ChaosServer) async throws -> Void

    static let all = [
        ChaosCell(name: "worker-killed", need: .nothing, seconds: 10) { site, _ in
            site.workers[0].signal(SIGKILL)
        },
        ChaosCell(name: "worker-killed-each-second", need: .nothing, seconds: 34) { site, _ in
            for round in 0..<30 {
                site.workers[round % 2].signal(SIGKILL)
                try await Task.sleep(for: .seconds(1))
            }
        },
        ChaosCell(name: "worker-paused-past-lease", need: .nothing, seconds: 14) { site, _ in
            guard let paused = site.workers[0].id else { throw NeverCameAbout(what: "a worker to pause") }
            kill(paused, SIGSTOP)
            try await Task.sleep(for: .seconds(ChaosSite.leaseSeconds + 3))
            kill(paused, SIGCONT)
        },
        ChaosCell(name: "receiver-killed", need: .nothing, seconds: 10) { site, _ in
            site.receiver.signal(SIGKILL)
        },
        ChaosCell(name: "connections-terminated", need: .nothing, seconds: 10) { site, _ in
            try await site.database.pool.query(
                """
                select count(pg_terminate_backend(pid)) from pg_stat_activity
                 where datname = current_database() and pid <> pg_backend_pid()
                """)
        },
        ChaosCell(name: "connections-exhausted", need: .server, seconds: 20) { site, _ in
            let hogs = try await Self.everyConnection(of: site.database)
            // Who has to connect anew in the meantime finds no room.
            site.workers[0].signal(SIGKILL)
            try await Task.sleep(for: .seconds(8))
            for hog in hogs { await hog.close() }
        },
        ChaosCell(name: "database-crashed", need: .server, seconds: 15) { _, server in
            server.crash()
        },
        ChaosCell(name: "disk-full", need: .volume, seconds: 25) { _, server in
            guard let ballast = server.volume?.appending(path: "ballast") else { return }
            try Self.fill(ballast)
            try await Task.sleep(for: .seconds(10))
            try FileManager.default.removeItem(at: ballast)
        },
    ]

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

    /// Writes until there is no room left.
    private static func fill(_ file: URL) throws {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw NeverCameAbout(what: "a file on the server's volume") }
        defer { close(descriptor) }
        for size in [1 << 20, 4096] {
            let block = [UInt8](repeating: 0, count: size)
            while write(descriptor, block, block.count) == block.count {}
        }
    }
}
