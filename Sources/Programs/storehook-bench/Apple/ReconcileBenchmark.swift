import ArgumentParser
import Foundation

/// Whether what was lost on the way comes back, all of it and once, whatever is killed meanwhile, and what that takes.
struct ReconcileBenchmark: AsyncParsableCommand {
    /// What can be played.
    enum Run: String, CaseIterable, ExpressibleByArgument {
        /// Some of the posts are lost; `storehook reconcile` fetches them, and then finds nothing.
        case lost
        /// Some of the posts are lost, and the worker that fetches them is killed every two seconds.
        case killed
        /// Nothing was ever posted: a new database from the history alone.
        case alone
    }

    static let configuration = CommandConfiguration(
        commandName: "reconcile",
        abstract: "Fetches what a stand-in for Apple lost on the way, and compares with a run without loss.",
        discussion: """
            Needs DATABASE_URL of a server on which databases may be created, and the storehook program beside this one. The
            stand-in's history spans less than 178 days of Production. Prints how long storehook reconcile took beside what
            Apple's limit allows (50 requests a second, of which half are used; 20 notifications a page), and the most memory
            that it held. Exits with 1 where a database does not end as the one that heard everything, conservation does not
            hold, something is not proven, a second run finds or posts anything, memory reaches 200 MiB, or the limit is not
            what sets the time.

            Example: storehook-bench reconcile --notifications 20000 --loss 5
            Example: storehook-bench reconcile --notifications 200000 --runs alone --no-compare
            """)

    @Option(help: "Notifications in Apple's history.") var notifications = 20_000
    @Option(help: "Percent of the posts that are lost.") var loss = 5.0
    @Option(help: "What to play, separated by commas: lost, killed, alone.") var runs = "lost,killed,alone"
    @Flag(inversion: .prefixedNo, help: "Compare with a database that heard everything.") var compare = true
    @Option(help: "Seed of the simulation.") var seed: UInt64 = 1
    @Option(help: "Workers that apply what comes.") var workers = 2
    @Flag(help: "Print one JSON object instead of lines for people.") var json = false

    /// What a part of the measurement is bounded by, in seconds.
    static let patience = 3600

    func validate() throws {
        guard (100...1_000_000).contains(notifications), (0...100).contains(loss), (1...64).contains(workers) else {
            throw ValidationError("--notifications goes from 100 to 1000000, --loss to 100, --workers from 1 to 64")
        }
        guard chosen.count == runs.split(separator: ",").count, !chosen.isEmpty else {
            throw ValidationError("--runs is a list of \(Run.allCases.map(\.rawValue).joined(separator: ", "))")
        }
    }

    private var chosen: [Run] { runs.split(separator: ",").compactMap { Run(rawValue: String($0)) } }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workplace) }
        let programs = try ChaosPrograms(workplace: workplace)
        // Hours ago, so that workers ask for it as a matter of course.
        let end = Int64(Date().timeIntervalSince1970) * 1000 - 3 * 3_600_000
        var site = ReconcileSite(
            programs: programs, notifications: notifications, loss: loss, seed: seed, end: end, workers: workers)
        if compare {
            StandardError.line("a database that hears everything …")
            site.whole = try await site.hearingEverything()
        }
        for run in chosen {
            StandardError.line("\(run.rawValue) …")
            switch run {
            case .lost: try await site.lost()
            case .killed: try await site.killed()
            case .alone: try await site.alone()
            }
        }
        site.figures.print(json: json)
        for complaint in site.complaints { StandardError.line("storehook-bench: \(complaint)") }
        if !site.complaints.isEmpty { throw ExitCode.failure }
    }
}
