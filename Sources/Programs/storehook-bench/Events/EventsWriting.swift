import AccountStore
import ArgumentParser
import EventStore
import Foundation
import Postgres
import Simulation

/// What writing events costs the drain: the same backlog is drained by workers with and without events, in turn, each
/// time in a database of its own.
struct EventsWriting: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "writing",
        abstract: "The drain with events and without, in pairs, and the ratio.",
        discussion: """
            Needs DATABASE_URL of a server on which databases may be created. The workers are this program's own, which write events
            or do not; those of storehook always do. What gives events their places is part of it. Autovacuum is kept away, and
            vacuuming all tables once after it is measured by itself: of a large database it comes far more rarely.

            Example: storehook-bench events writing --backlog 20000 --pairs 5
            """)

    @Option(help: "Notifications waiting when the workers start.") var backlog = 20_000
    @Option(help: "Worker processes.") var workers = 2
    @Option(help: "Notifications claimed at a time.") var batch = 100
    @Option(help: "How often each is measured.") var pairs = 3
    @Option(help: "Seed of the first pair's simulation; each pair has the next one.") var seed: UInt64 = 1
    @Flag(help: "Apply a catalog first, so that accounts are derived and reported, too.") var catalog = false
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (100...10_000_000).contains(backlog), (1...64).contains(workers), (1...100).contains(pairs) else {
            throw ValidationError("--backlog begins at 100, --workers goes to 64 and --pairs to 100")
        }
    }

    /// One run of a pair.
    private struct Run {
        var perSecond: Double
        /// Of the workers and of PostgreSQL, in microseconds a notification; the workers' alone where PostgreSQL is elsewhere.
        var cpu: Double
        var workerCPU: Double
        var serverCPU: Double
        /// Of vacuuming afterwards.
        var vacuumCPU: Double
        var walBytes: Double
        var events: Double
    }

    func run() async throws {
        let authority = try SimulatedAuthority.generate()
        var runs: (silent: [Run], telling: [Run]) = ([], [])
        for pair in 0..<pairs {
            // What drifts favours neither.
            for isTelling in pair.isMultiple(of: 2) ? [false, true] : [true, false] {
                let run = try await measure(isTelling, seed &+ UInt64(pair), authority)
                if isTelling { runs.telling.append(run) } else { runs.silent.append(run) }
                StandardError.line(
                    "\(isTelling ? "telling" : "silent "): \(Int(run.perSecond)) a second, \(Int(run.cpu)) µs CPU a notification"
                )
            }
        }
        report(runs.silent, runs.telling).print(json: json)
    }

    private func measure(_ isTelling: Bool, _ seed: UInt64, _ authority: SimulatedAuthority) async throws -> Run {
        try await BenchDatabase.with(named: isTelling ? "telling" : "silent") { database in
            try await database.requireDurableCommits()
            try await EventStore(database.pool).ensurePartitions()
            try await database.keepAutovacuumAway()
            if catalog { _ = try await AccountStore(database.pool).apply(Self.catalog, by: "storehook-bench") }
            let arguments = [
                "plain-worker", "--trusted-root", authority.rootFingerprint, "--batch", "\(batch)",
                isTelling ? "--telling" : "--no-telling",
            ]
            let run = try await DrainRun.measure(
                backlog, workers: workers, batch: batch, seed: seed, authority, database, running: arguments)
            let before = try await database.serverCPUSeconds()
            try await database.vacuum()
            let after = try await database.serverCPUSeconds()
            let events: Int64 = try await database.pool.query("select count(*) from storehook.events").one().decode(0)
            let each = 1_000_000 / Double(backlog)
            return Run(
                perSecond: run.perSecond, cpu: (run.workerCPU + (run.serverCPU ?? 0)) * each,
                workerCPU: run.workerCPU * each, serverCPU: (run.serverCPU ?? 0) * each,
                vacuumCPU: ((after ?? 0) - (before ?? 0)) * each,
                walBytes: Double(run.walBytes) / Double(backlog), events: Double(events) / Double(backlog))
        }
    }

    /// What the simulator's subscriptions give.
    static let catalog = """
        app: \(SimulatedApp.example.bundleId)
        tiers: [{id: free}, {id: basic}, {id: premium}]
        products:
          - {id: monthly, product_id: \(SimulatedProduct.premiumMonthly.id), tier: premium, period: month}
          - {id: yearly, product_id: \(SimulatedProduct.premiumYearly.id), tier: premium, period: year}
          - {id: weekly, product_id: \(SimulatedProduct.basicWeekly.id), tier: basic, period: week}
          - {id: basic, product_id: \(SimulatedProduct.basicMonthly.id), tier: basic, period: month}
          - {id: basic-year, product_id: \(SimulatedProduct.basicYearly.id), tier: basic, period: year}
        """

    private func report(_ silent: [Run], _ telling: [Run]) -> Figures {
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        func differences(_ value: (Run) -> Double) -> [Double] { zip(silent, telling).map { value($1) - value($0) } }
        var figures = Figures("events writing")
        figures.add("pairs", Double(pairs), "pairs of runs")
        figures.add("backlog", Double(backlog), "backlog, notifications")
        figures.add("workers", Double(workers), "worker processes")
        figures.add("events", median(telling.map(\.events)), "events a notification")
        figures.add(
            "silent_per_second", median(silent.map(\.perSecond)), "without events, notifications a second, median")
        figures.add(
            "telling_per_second", median(telling.map(\.perSecond)), "with events, notifications a second, median")
        figures.add(
            "silent_cpu_us", median(silent.map(\.cpu)),
            "without events, CPU of all processes, microseconds a notification")
        figures.add(
            "cost_cpu_us", median(differences(\.cpu)),
            "events cost, microseconds of CPU a notification, median of pairs")
        figures.add("cost_worker_us", median(differences(\.workerCPU)), "of that, in the workers")
        figures.add("cost_server_us", median(differences(\.serverCPU)), "of that, in PostgreSQL")
        figures.add(
            "cost_vacuum_us", median(differences(\.vacuumCPU)), "besides, of vacuuming all tables once after it")
        figures.add("cost_wal_bytes", median(differences(\.walBytes)), "WAL of events, bytes a notification")
        let ratios = zip(silent, telling).map { $1.cpu / $0.cpu }.sorted()
        figures.add("ratio", median(ratios), "CPU with events over CPU without, median of pairs")
        figures.add("ratio_least", ratios[0], "the same, least")
        figures.add("ratio_most", ratios[ratios.count - 1], "the same, most")
        return figures
    }
}
