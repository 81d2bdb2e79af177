import ArgumentParser
import Foundation

/// Everything that breaks other queues, done to this one while notifications come in.
struct ChaosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chaos",
        abstract: "Break things while notifications come in, and account for every one of them.",
        discussion: """
            Needs DATABASE_URL of a server on which databases may be created, and the storehook program beside this one. \
            What would disturb others on that server is left out, unless the server is the run's own: see deploy/chaos. \
            Fails where a notification is not accounted for, where a cell of --cells cannot be played, and where none can.

            Example: storehook-bench chaos --cells worker-killed,poison
            """)

    @Option(help: "Comma-separated: \(ChaosCell.all.map(\.name).joined(separator: ", ")).") var cells: String?
    @Option(help: "Notifications posted a second.") var rate = 200
    @Option(help: "Seed of the simulation.") var seed = 1
    @Option(help: "A program that becomes the PostgreSQL server of DATABASE_URL; it may then be disturbed.")
    var server: String?
    @Option(help: "A small volume that holds that server's data and nothing else; it may then be filled.")
    var volume: String?
    @Option(help: "A directory in which cells make servers of their own, on disk; with --postgres.")
    var clusters: String?
    @Option(help: "Runs the one of PostgreSQL's programs that its first argument names, as the owner of --clusters.")
    var postgres: String?
    @Option(help: "The file sql/roles.sql.") var roles: String?
    @Flag(help: "Print one JSON object a cell instead of a table.") var json = false

    func validate() throws {
        guard (1...10_000).contains(rate) else { throw ValidationError("--rate goes from 1 to 10000") }
        guard (clusters == nil) == (postgres == nil) else {
            throw ValidationError("--clusters and --postgres belong together")
        }
        for cell in chosen ?? [] where !ChaosCell.all.contains(where: { $0.name == cell }) {
            throw ValidationError("there is no cell \(cell); see storehook-bench chaos --help")
        }
    }

    private var chosen: [String]? { cells?.split(separator: ",").map(String.init) }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-chaos-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        let programs = try ChaosPrograms(workplace: workplace)
        let server = try ChaosServer(
            start: server.map { URL(fileURLWithPath: $0) }, volume: volume.map { URL(fileURLWithPath: $0) },
            log: programs.log)
        let run = ChaosRun(
            programs: programs, server: server,
            clusters: clusters.flatMap { directory in
                postgres.map { program in
                    ChaosClusters(
                        directory: URL(fileURLWithPath: directory), program: URL(fileURLWithPath: program),
                        log: programs.log)
                }
            }, roles: roles.map { URL(fileURLWithPath: $0) }, rate: rate, seed: seed)
        let outcomes: [ChaosOutcome]
        do {
            outcomes = try await Interruption.cancelling(Task { try await play(run) })
        } catch {
            await server.stop()
            StandardError.line("what the programs said is in \(workplace.path)")
            if error is CancellationError { throw ExitCode(130) }
            throw error
        }
        await server.stop()
        ChaosTable.print(outcomes, json: json)
        for outcome in outcomes {
            for complaint in outcome.complaints { StandardError.line("\(outcome.cell): \(complaint)") }
        }
        guard outcomes.contains(where: { $0.skipped == nil }), outcomes.allSatisfy(\.isClean) else {
            StandardError.line(
                "not everything was played, or not every notification is accounted for; what the programs said is in \(workplace.path)"
            )
            throw ExitCode.failure
        }
        try FileManager.default.removeItem(at: workplace)
    }

    private func play(_ run: ChaosRun) async throws -> [ChaosOutcome] {
        try await run.server.untilReady()
        var outcomes: [ChaosOutcome] = []
        for cell in ChaosCell.all where chosen?.contains(cell.name) ?? true {
            StandardError.line("\(cell.name) …")
            var outcome = try await run.play(cell)
            outcome.isAskedFor = chosen != nil
            outcomes.append(outcome)
        }
        return outcomes
    }
}
