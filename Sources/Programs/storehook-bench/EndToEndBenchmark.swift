import ArgumentParser
import EvidenceStore
import Foundation
import Postgres
import Simulation

/// From a post to its effect, at a steady rate: what a day is like, not how much a second can hold.
struct EndToEndBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end-to-end",
        abstract: "From posted to applied at a steady rate, with queue depth and memory over time.",
        discussion: """
            Needs DATABASE_URL of a server on which a database may be created, and the storehook program beside this one. All
            posts are signed first, into a temporary file of 18 kB each. With track_commit_timestamp = on the server itself
            says when each notification's transaction committed; else its beginning stands for it.

            Example: storehook-bench end-to-end --rate 1000 --seconds 300
            """)

    @Option(help: "Posts a second.") var rate = 1000
    @Option(help: "Seconds of posting.") var seconds = 300
    @Option(help: "Worker processes.") var workers = 2
    @Option(help: "Connections to post over.") var connections = 32
    @Option(help: "Seed of the simulation.") var seed: UInt64 = 1
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (1...100_000).contains(rate), (3...86_400).contains(seconds), (1...64).contains(workers),
            (1...1000).contains(connections)
        else {
            throw ValidationError("--rate begins at 1, --seconds at 3, --workers and --connections at 1")
        }
    }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workplace) }
        let programs = try ChaosPrograms(workplace: workplace)
        StandardError.line("signing \(rate * seconds) notifications …")
        let posts = try await PreparedPosts(rate * seconds, seed: seed, by: programs.authority)
        let figures = try await BenchDatabase.with { database in
            try await database.requireDurableCommits()
            var started = [
                ("receiver", try programs.receiver(database.url))
            ]
            for number in 1...workers {
                started.append(("worker-\(number)", try programs.supervised(["work"], database.url)))
            }
            do {
                try await patiently("the receiver answers", within: .seconds(20)) { await programs.receiverIsReady() }
                let figures = try await measure(posts, programs, started, database)
                for program in started { await program.1.stop() }
                return figures
            } catch {
                for program in started { await program.1.stop() }
                throw error
            }
        }
        figures.print(json: json)
    }

    private func measure(
        _ posts: PreparedPosts, _ programs: ChaosPrograms, _ started: [(String, SupervisedProgram)],
        _ database: BenchDatabase
    ) async throws -> Figures {
        let ids = started.compactMap { name, program in program.id.map { (name: name, id: $0) } }
        let cpuBefore = ids.map { ProcessTimes.cpuSeconds(of: $0.id) ?? 0 }
        let serverBefore = try await database.serverCPUSeconds()
        let wal = try await database.walBytes()
        let sampling = Task { try await RunSamples.collect(ids, database) }
        let outcome = try await LoadGenerator(
            port: programs.port, connections: connections, pace: .steady(perSecond: Double(rate), count: posts.count)
        ).run { try posts.next() }
        sampling.cancel()
        let samples = try await sampling.value
        try await patiently("all of it is applied", within: .seconds(120)) {
            try await Outbox(database.pool).queue.pending() == 0
        }
        let end = try await Outbox(database.pool).conservation()
        guard outcome.refused == 0, started.allSatisfy({ $0.1.starts == 1 }), end.missing == 0, end.doubled == 0,
            end.applied + end.parked == Int64(posts.count)
        else { throw NeverCameAbout(what: "every post answered 200 and applied once; it is \(end)") }
        let each = 1_000_000 / Double(posts.count)
        var figures = Figures("end-to-end")
        figures.add("offered_per_second", Double(rate), "offered, posts a second")
        figures.add("posts", Double(posts.count), "posts, each answered 200 and applied")
        figures.add("per_second", Double(posts.count) / outcome.seconds, "answered 200, posts a second")
        outcome.latencies.add(to: &figures, "answered", "from when a post was due to its 200")
        let (applied, isExact) = try await database.appliedAfter()
        applied.add(
            to: &figures, "applied",
            isExact ? "from stored to applied and committed" : "from stored to the applying transaction's beginning")
        samples.add(to: &figures)
        for (program, before) in zip(ids, cpuBefore) {
            let used = (ProcessTimes.cpuSeconds(of: program.id) ?? 0) - before
            figures.add(
                program.name.replacing("-", with: "_") + "_cpu_us", used * each,
                "\(program.name)'s CPU, microseconds a notification")
        }
        if let serverBefore, let after = try await database.serverCPUSeconds() {
            figures.add("server_cpu_us", (after - serverBefore) * each, "PostgreSQL's CPU, microseconds a notification")
        }
        figures.add("generator_cpu_us", outcome.cpuSeconds * each, "load generator's CPU, microseconds a notification")
        figures.add(
            "wal_bytes", Double(try await database.walBytes() - wal) * each / 1_000_000, "WAL, bytes a notification")
        return figures
    }
}
