import ArgumentParser
import Foundation
import Outbox
import Postgres
import Simulator

/// How fast a backlog goes: from stored to applied, by worker processes as they are run in production, with PostgreSQL on
/// the same machine.
struct DrainBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Notifications a second from stored to applied.",
        discussion: """
            Needs DATABASE_URL of a server on which a database may be created, and the storehook program beside this one.

            Example: storehook-bench drain --backlog 20000 --workers 2
            """)

    @Option(help: "Notifications waiting when the workers start.") var backlog = 20_000
    @Option(help: "Worker processes.") var workers = 2
    @Option(help: "Notifications claimed at a time.") var batch = 100
    @Option(help: "Seed of the simulation.") var seed: UInt64 = 1
    @Flag(help: "Store what was posted as it is, as a receiver does that does not know the signature's header yet.")
    var unpacked = false
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (1...10_000_000).contains(backlog), (1...64).contains(workers) else {
            throw ValidationError("--backlog and --workers must be positive, with at most 64 workers")
        }
    }

    func run() async throws {
        let authority = try SimulatedAuthority.generate()
        let bare = BareSignatures.rate(milliseconds: 500)
        let figures = try await BenchDatabase.with { database in
            let waiting = try await Backlog.store(backlog, seed: seed, by: authority, knowing: !unpacked, in: database)
            let wal = try await database.walBytes()
            let serverBefore = try await database.serverCPUSeconds()
            let start: PostgresTimestamp = try await database.pool.query("select clock_timestamp()").one().decode(0)
            let processes = try (0..<workers).map { _ in try worker(database, authority) }
            defer { for process in processes where process.isRunning { process.terminate() } }
            let seconds = try await waiting.untilDone(from: start, in: database) { processes.allSatisfy(\.isRunning) }
            let workerCPU = processes.compactMap { ProcessTimes.cpuSeconds(of: $0.processIdentifier) }.reduce(0, +)
            let serverCPU = try await database.serverCPUSeconds()
            let end = try await Outbox(database.pool).conservation()
            for process in processes {
                process.terminate()
                process.waitUntilExit()
            }
            guard end.missing == 0, end.doubled == 0, end.applied + end.parked == Int64(backlog) else {
                throw ValidationError("not every notification was applied: \(end)")
            }
            let each = 1_000_000 / Double(backlog)
            var figures = Figures("drain")
            figures.add("backlog", Double(backlog), "backlog, notifications")
            figures.add("workers", Double(workers), "worker processes")
            figures.add(
                "notification_bytes", Double(waiting.bytes) / Double(backlog), "bytes a notification, as posted")
            figures.add(
                "stored_bytes", Double(waiting.storedBytes) / Double(backlog), "bytes a notification, as stored")
            figures.add(
                "store_wal_bytes", Double(waiting.walBytes) / Double(backlog), "WAL of storing, bytes a notification")
            if let used = waiting.serverCPU {
                figures.add(
                    "store_server_cpu_us", used * each, "PostgreSQL's CPU for storing, microseconds a notification")
            }
            figures.add("per_second", Double(backlog) / seconds, "applied, notifications a second")
            figures.add("worker_cpu_us", workerCPU * each, "workers' CPU, microseconds a notification")
            if let serverBefore, let serverCPU {
                figures.add(
                    "server_cpu_us", (serverCPU - serverBefore) * each, "PostgreSQL's CPU, microseconds a notification")
            }
            figures.add("p256_per_second", bare, "bare P-256 verifications a second, one core, same run")
            figures.add(
                "wal_bytes", Double(try await database.walBytes() - wal) / Double(backlog),
                "WAL of draining, bytes a notification")
            figures.add(
                "table_bytes", Double(try await database.tableBytes()) / Double(backlog),
                "tables with indexes, bytes a notification")
            return figures
        }
        figures.print(json: json)
    }

    private func worker(_ database: BenchDatabase, _ authority: SimulatedAuthority) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("storehook")
        // Counting as in production, at ports that nobody asks.
        process.arguments = ["work", "--batch", "\(batch)", "--metrics-port", "0"]
        process.environment = ProcessInfo.processInfo.environment.merging(
            [
                "DATABASE_URL": database.url,
                "STOREHOOK_APPS": "\(SimulatedApp.example.bundleId)=\(SimulatedApp.example.appAppleId)",
                "STOREHOOK_TRUSTED_ROOTS": authority.rootFingerprint,
                "STOREHOOK_LOG_LEVEL": "warning",
            ]) { _, new in new }
        try process.run()
        return process
    }
}
