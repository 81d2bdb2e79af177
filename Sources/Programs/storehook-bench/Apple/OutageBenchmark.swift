import ArgumentParser
import EvidenceStore
import Foundation
import Postgres

/// Whether an App Store Server API that is away costs the pipeline anything, and whether everything is done afterwards.
struct OutageBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outage",
        abstract:
            "Throughput and latency while Apple's servers answer, hang and refuse, in turn; and what is left then.",
        discussion: """
            Needs DATABASE_URL of a server on which databases may be created, and the storehook program beside this one. Two
            workers with a key walk through 180 days of history, ask for a test notification each minute and follow an
            extension, beside their work. In each round Apple first answers, then hangs, then refuses; each time posts come at
            a steady rate, and then as fast as they are answered. The times away of all rounds are what is simulated of an
            hour: how long one takes changes nothing but how far the pauses between two questions have grown, which end at a
            minute.

            Exits with 1 where the throughput while Apple is away is less than 85 % of that while it answers, where the latency
            is more than twice as high and 20 ms, or where something due is not done after Apple is back.

            Example: storehook-bench outage --rounds 3 --seconds 20
            """)

    @Option(help: "Rounds of answering, hanging and refusing.") var rounds = 3
    @Option(help: "Seconds of posting at the steady rate in each.") var seconds = 20
    @Option(help: "Posts a second at the steady rate.") var rate = 200
    @Option(help: "Posts as fast as they are answered, in each.") var burst = 5000
    @Option(help: "Seconds within which everything due is to be done after Apple is back.") var recovery = 300
    @Option(help: "Connections to post over.") var connections = 32
    @Option(help: "Seed of the simulation.") var seed: UInt64 = 1
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    func validate() throws {
        guard (1...100).contains(rounds), (1...3600).contains(seconds), (1...10_000).contains(rate),
            (100...1_000_000).contains(burst), (1...36_000).contains(recovery), (1...1000).contains(connections)
        else { throw ValidationError("every number is positive, and --burst 100 at least") }
    }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workplace) }
        let programs = try ChaosPrograms(workplace: workplace)
        let count = rounds * AppleRelay.Mode.allCases.count * (rate * seconds + burst)
        StandardError.line("signing \(count) notifications …")
        let posts = try await PreparedPosts(count, seed: seed, by: programs.authority)
        let (figures, complaints) = try await BenchDatabase.with { database in
            try await BenchApple.with(programs, notify: programs.url) { apple in
                let relay = try AppleRelay(to: apple.port)
                defer { relay.stop() }
                var settings = try apple.settings(through: relay.port)
                settings["STOREHOOK_ENVIRONMENTS"] = "Production,Sandbox"
                settings["STOREHOOK_CANARY_MINUTES"] = "Production=1"
                var running = [try programs.receiver(database.url)]
                do {
                    for _ in 0..<2 { running.append(try programs.supervised(["work"], database.url, with: settings)) }
                    try await patiently("the receiver answers", within: .seconds(20)) {
                        await programs.receiverIsReady()
                    }
                    let site = OutageSite(
                        programs: programs, database: database, apple: apple, relay: relay, settings: settings,
                        posts: posts)
                    let result = try await measure(site)
                    for program in running { await program.stop() }
                    return result
                } catch {
                    for program in running { await program.stop() }
                    throw error
                }
            }
        }
        figures.print(json: json)
        for complaint in complaints { StandardError.line("storehook-bench: \(complaint)") }
        if !complaints.isEmpty { throw ExitCode.failure }
    }

    private func measure(_ site: OutageSite) async throws -> (Figures, [String]) {
        let subscription = try await site.apple.sell("com.example.storehook.premium.monthly")
        var phases: [AppleRelay.Mode: [OutageSite.Phase]] = [:]
        var extending: Task<MeasuredProgram, any Error>?
        for round in 1...rounds {
            for mode in AppleRelay.Mode.allCases {
                StandardError.line("round \(round): Apple is \(mode.rawValue) …")
                site.relay.set(mode)
                if mode == .hanging, extending == nil {
                    extending = Task {
                        try await MeasuredProgram.run(
                            [
                                "apple", "extend", subscription, "--environment", "Production", "--days", "7",
                                "--reason",
                                "outage", "--format", "json",
                            ], site.programs, site.database.url, site.settings)
                    }
                }
                phases[mode, default: []].append(
                    try await site.phase(
                        rate: rate, seconds: seconds, burst: burst, connections: connections))
            }
        }
        site.relay.set(.answering)
        _ = try await extending?.value
        var complaints: [String] = []
        var figures = Figures("outage")
        var medians: [AppleRelay.Mode: OutageSite.Phase] = [:]
        for mode in AppleRelay.Mode.allCases {
            let median = OutageSite.Phase.median(phases[mode] ?? [])
            medians[mode] = median
            let name = mode.rawValue
            figures.add("\(name)_per_second", median.perSecond, "\(name): posted as fast as answered, applied a second")
            figures.add("\(name)_p50_ms", median.p50, "\(name): at the steady rate, from stored to applied, p50, ms")
            figures.add("\(name)_p99_ms", median.p99, "\(name): at the steady rate, from stored to applied, p99, ms")
        }
        if let there = medians[.answering] {
            for mode in [AppleRelay.Mode.hanging, .refusing] {
                guard let away = medians[mode] else { continue }
                if away.perSecond < there.perSecond * 0.85 {
                    complaints.append("\(mode.rawValue): \(Int(away.perSecond)) a second, not \(Int(there.perSecond))")
                }
                if away.p99 > there.p99 * 2 + 20 {
                    complaints.append("\(mode.rawValue): p99 is \(Int(away.p99)) ms, not \(Int(there.p99))")
                }
            }
        }
        StandardError.line("Apple is back …")
        let (after, left) = try await site.untilEverythingIsDone(within: .seconds(recovery))
        figures.add("due_done_seconds", after, "seconds from Apple's return until everything due was done")
        complaints += left
        return (figures, complaints)
    }
}
