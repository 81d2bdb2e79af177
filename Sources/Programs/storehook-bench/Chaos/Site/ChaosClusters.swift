import Foundation

/// Where a cell makes PostgreSQL servers of its own.
struct ChaosClusters: Sendable {
    /// A directory on disk that belongs to the account which runs the servers.
    let directory: URL
    /// Runs the one of PostgreSQL's programs that its first argument names, as that account.
    let program: URL
    let log: FileHandle

    /// Bytes that are free there.
    var freeBytes: Int64 {
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: directory.path)
        return (attributes?[.systemFreeSize] as? NSNumber)?.int64Value ?? 0
    }

    /// Starts an empty server, and takes it away after `body`.
    /// - Parameters:
    ///   - addresses: where it listens beside 127.0.0.1.
    ///   - network: an address range whose hosts connect without a password, as from 127.0.0.1: `198.18.0.0/29`.
    func with<T>(
        addresses: [String] = [], network: String? = nil, _ body: (ChaosCluster) async throws -> T
    ) async throws -> T {
        try await make(addresses: addresses, body) { data in
            try await run([
                "initdb", "--pgdata=\(data.path)", "--username=storehook", "--encoding=UTF8", "--locale=C.UTF-8",
                "--auth=trust", "--no-sync", "--no-instructions",
            ])
            guard let network else { return }
            let file = try FileHandle(forWritingTo: data.appending(path: "pg_hba.conf"))
            try file.seekToEnd()
            try file.write(contentsOf: Data("host all all \(network) trust\n".utf8))
            try file.close()
        }
    }

    /// Starts a standby that streams from `primary`, and takes it away after `body`.
    func withStandby<T>(of primary: ChaosCluster, _ body: (ChaosCluster) async throws -> T) async throws -> T {
        try await make(addresses: [], body) { data in
            try await run([
                "pg_basebackup", "--pgdata=\(data.path)", "--checkpoint=fast", "--wal-method=stream", "--no-sync",
                "--write-recovery-conf",
                "--dbname=host=127.0.0.1 port=\(primary.port) user=storehook application_name=standby",
            ])
        }
    }

    private func make<T>(
        addresses: [String], _ body: (ChaosCluster) async throws -> T, _ fill: (URL) async throws -> Void
    ) async throws -> T {
        let data = directory.appending(path: "data-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: data) }
        try await fill(data)
        let port = try ChaosPrograms.freePort()
        let server = try SupervisedProgram(
            program,
            [
                "postgres", "-D", data.path, "-p", "\(port)", "-c", "unix_socket_directories=",
                "-c", "listen_addresses=\((["127.0.0.1"] + addresses).joined(separator: ","))",
                "-c", "max_connections=40", "-c", "log_min_messages=fatal",
            ], environment: ProcessInfo.processInfo.environment, log: log)
        let cluster = ChaosCluster(port: port, program: server)
        do {
            try await cluster.untilReady()
            let result = try await body(cluster)
            await cluster.kill()
            return result
        } catch {
            await cluster.kill()
            throw error
        }
    }

    private func run(_ arguments: [String]) async throws {
        try await SystemTool(executable: program).run(arguments, log: log)
    }
}
