import ArgumentParser
import EvidenceStore
import Foundation
import Postgres
import Simulation

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
    @Flag(help: "Sum no figures: what they cost is the difference.") var withoutFigures = false
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (1...10_000_000).contains(backlog), (1...64).contains(workers) else {
            throw ValidationError("--backlog and --workers must be positive, with at most 64 workers")
        }
    }

    func run() async throws {
        let authority = try SimulatedAuthority.generate()
        let before = BareSignatures.rate(milliseconds: 500)
        let figures = try await BenchDatabase.with { database in
            try await database.requireDurableCommits()
            let run = try await DrainRun.measure(
                backlog, workers: workers, batch: batch, seed: seed, knowing: !unpacked, hasFigures: !withoutFigures,
                authority,
                database)
            let tableBytes = try await database.tableBytes()
            // Only then, since it empties the tables.
            let floor = try await DrainFloor.measure(backlog, batch: batch, database)
            let bare = (before + BareSignatures.rate(milliseconds: 500)) / 2
            return report(run, floor, bare: bare, tableBytes: tableBytes)
        }
        figures.print(json: json)
    }

    private func report(_ run: DrainRun, _ floor: DrainFloor, bare: Double, tableBytes: Int64) -> Figures {
        let each = 1_000_000 / Double(backlog)
        let signatures = 3_000_000 / bare
        // psql's own CPU is its script's and its formatting's, which no client needs: left out, to storehook's disadvantage.
        let sql = floor.serverCPU * each
        var figures = Figures("drain")
        figures.add("backlog", Double(backlog), "backlog, notifications")
        figures.add("workers", Double(workers), "worker processes")
        figures.add(
            "notification_bytes", Double(run.waiting.bytes) / Double(backlog), "bytes a notification, as posted")
        figures.add(
            "stored_bytes", Double(run.waiting.storedBytes) / Double(backlog), "bytes a notification, as stored")
        figures.add(
            "store_wal_bytes", Double(run.waiting.walBytes) / Double(backlog), "WAL of storing, bytes a notification")
        if let used = run.waiting.serverCPU {
            figures.add(
                "store_server_cpu_us", used * each, "PostgreSQL's CPU for storing, microseconds a notification")
        }
        figures.add("per_second", run.perSecond, "applied, notifications a second")
        figures.add("worker_cpu_us", run.workerCPU * each, "workers' CPU, microseconds a notification")
        figures.add("p256_per_second", bare, "bare P-256 verifications a CPU second, same run")
        figures.add("signatures_cpu_us", signatures, "three bare verifications, microseconds")
        figures.add(
            "floor_server_cpu_us", floor.serverCPU * each, "the same rows by psql: PostgreSQL's CPU, microseconds")
        figures.add("floor_psql_cpu_us", floor.psqlCPU * each, "the same rows by psql: psql's CPU, microseconds")
        if let serverCPU = run.serverCPU {
            figures.add("server_cpu_us", serverCPU * each, "PostgreSQL's CPU, microseconds a notification")
            figures.add(
                "ratio", (run.workerCPU + serverCPU) * each / (signatures + sql),
                "CPU of all processes over three bare verifications and PostgreSQL's for psql")
        }
        figures.add("wal_bytes", Double(run.walBytes) / Double(backlog), "WAL of draining, bytes a notification")
        figures.add("table_bytes", Double(tableBytes) / Double(backlog), "tables with indexes, bytes a notification")
        return figures
    }
}
