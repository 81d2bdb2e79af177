import ArgumentParser
import EventStore
import Foundation
import Postgres

/// How many events workers deliver a second, and how soon each arrives.
struct EventsDeliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries",
        abstract: "Deliveries a second to a local endpoint over TLS, and how soon an event arrives.",
        discussion: """
            Needs DATABASE_URL of a server on which a database may be created, openssl, and the storehook program beside this one.
            First a backlog is delivered as fast as it goes; then events are written at a steady rate, each in a transaction
            of its own, and how long each takes from its commit to the endpoint is measured there.

            Example: storehook-bench events deliveries --workers 2 --backlog 60000
            """)

    @Option(help: "Worker processes.") var workers = 2
    @Option(help: "Events delivered as fast as it goes.") var backlog = 60_000
    @Option(help: "Accounts that they are of.") var accounts = 5_000
    @Option(help: "Events a second at the steady rate.") var rate = 500
    @Option(help: "Seconds at that rate.") var seconds = 60
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (1...32).contains(workers), (1000...10_000_000).contains(backlog), (1...10_000_000).contains(accounts),
            (1...10_000).contains(rate), (1...3600).contains(seconds)
        else {
            throw ValidationError("--workers begins at 1, --backlog at 1000, --accounts, --rate and --seconds at 1")
        }
    }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workplace) }
        let programs = try ChaosPrograms(workplace: workplace)
        let figures = try await BenchDatabase.with { database in
            try await database.requireDurableCommits()
            let site = try await DeliveriesSite.start(programs, database, workplace: workplace)
            var figures = Figures("deliveries")
            var running: [SupervisedProgram] = []
            do {
                StandardError.line("writing \(backlog) events …")
                _ = try await site.write(backlog, ofAccounts: accounts, on: database.pool)
                let events = EventStore(database.pool)
                while try await events.place() > 0 {}
                try await database.pool.query("vacuum (analyze)", deadline: .seconds(600))
                for _ in 0..<workers { running.append(try site.worker()) }
                try await drain(site, running, &figures)
                try await pace(site, events, &figures)
            } catch {
                for program in running { await program.stop() }
                throw error
            }
            for program in running { await program.stop() }
            await site.receiver.stop()
            return figures
        }
        figures.print(json: json)
    }

    /// The backlog, as fast as it goes.
    private func drain(
        _ site: DeliveriesSite, _ running: [SupervisedProgram], _ figures: inout Figures
    ) async throws {
        try await patiently("the first delivery", within: .seconds(60)) { site.receiver.posts > 0 }
        let (before, backlog) = (try await cpu(site, running), backlog)
        try await patiently("all deliveries", within: .seconds(600)) { site.receiver.posts >= backlog }
        let after = try await cpu(site, running)
        let arrivals = site.receiver.read(takes: true)
        guard let first = arrivals.first, let last = arrivals.last else { return }
        let took = (last - first) / .seconds(1)
        figures.add("per_second", Double(arrivals.posts) / took, "deliveries a second by \(workers) workers")
        figures.add("twice", Double(arrivals.posts - arrivals.at.count), "events that came more than once")
        for (name, text, seconds) in [
            ("worker_cpu_us", "the workers' CPU, microseconds a delivery", after.workers - before.workers),
            ("server_cpu_us", "PostgreSQL's CPU, microseconds a delivery", after.server - before.server),
            ("receiver_cpu_us", "the endpoint's CPU, microseconds a delivery", after.receiver - before.receiver),
        ] {
            figures.add(name, seconds * 1_000_000 / Double(arrivals.posts), text)
        }
    }

    private func cpu(
        _ site: DeliveriesSite, _ running: [SupervisedProgram]
    ) async throws -> (workers: Double, server: Double, receiver: Double) {
        (
            running.compactMap { $0.id.flatMap(ProcessTimes.cpuSeconds(of:)) }.reduce(0, +),
            try await site.database.serverCPUSeconds() ?? 0, ProcessTimes.ownCPUSeconds
        )
    }

    /// A steady rate, whatever becomes of those before.
    private func pace(_ site: DeliveriesSite, _ events: EventStore, _ figures: inout Figures) async throws {
        StandardError.line("writing \(rate) events a second for \(seconds) s …")
        let count = rate * seconds
        let writing = DeliveriesWriting(site: site, events: events, accounts: accounts)
        let committed = try await writing.write(count, perSecond: rate)
        let arrivals = site.receiver.read()
        var latencies = Latencies()
        for (id, instant) in committed {
            if let arrived = arrivals.at[id] { latencies.record(arrived - instant) }
        }
        figures.add("steady_missing", Double(count - latencies.count), "at \(rate)/s: events that did not come")
        latencies.add(to: &figures, "steady", "at \(rate)/s, from commit to the endpoint")
    }
}
