import ArgumentParser
import Foundation
import Outbox
import Postgres
import Synchronization

/// Everything that breaks other queues, done to this one while notifications come in.
struct ChaosCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chaos",
        abstract: "Break things while notifications come in, and account for every one of them.",
        discussion: """
            Needs DATABASE_URL of a server on which databases may be created, and the storehook program beside this one. \
            What would disturb others on that server is left out, unless the server is the run's own: see deploy/chaos.

            Example: storehook-bench chaos --cells worker-killed,poison
            """)

    @Option(help: "Comma-separated: \((ChaosCell.all.map(\.name) + [PoisonCell.name]).joined(separator: ", ")).")
    var cells: String?
    @Option(help: "Notifications posted a second.") var rate = 200
    @Option(help: "Seed of the simulation.") var seed = 1
    @Option(help: "A program that becomes the PostgreSQL server of DATABASE_URL; it may then be crashed.")
    var server: String?
    @Option(help: "A small volume that holds that server's data and nothing else; it may then be filled.")
    var volume: String?
    @Flag(help: "Print one JSON object a cell instead of a table.") var json = false

    func validate() throws {
        guard (1...10_000).contains(rate) else { throw ValidationError("--rate goes from 1 to 10000") }
        let known = Set(ChaosCell.all.map(\.name) + [PoisonCell.name])
        for cell in chosen ?? [] where !known.contains(cell) {
            throw ValidationError("there is no cell \(cell); see storehook-bench chaos --help")
        }
    }

    private var chosen: [String]? { cells?.split(separator: ",").map(String.init) }

    private func isChosen(_ name: String) -> Bool { chosen?.contains(name) ?? true }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-chaos-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        let programs = try ChaosPrograms(workplace: workplace)
        let server = try ChaosServer(
            start: server.map { URL(fileURLWithPath: $0) }, volume: volume.map { URL(fileURLWithPath: $0) },
            log: programs.log)
        let outcomes: [ChaosOutcome]
        do {
            try await server.untilReady()
            outcomes = try await play(programs, server)
        } catch {
            await server.stop()
            StandardError.line("what the programs said is in \(workplace.path)")
            throw error
        }
        await server.stop()
        ChaosTable.print(outcomes, json: json)
        guard outcomes.allSatisfy(\.isClean) else {
            StandardError.line(
                "not every notification is accounted for; what the programs said is in \(workplace.path)")
            throw ExitCode.failure
        }
        try FileManager.default.removeItem(at: workplace)
    }

    private func play(_ programs: ChaosPrograms, _ server: ChaosServer) async throws -> [ChaosOutcome] {
        var outcomes: [ChaosOutcome] = []
        for cell in ChaosCell.all where isChosen(cell.name) {
            StandardError.line("\(cell.name) …")
            switch cell.need {
            case .server where !server.isOurs:
                outcomes.append(ChaosOutcome(cell: cell.name, skipped: "needs a server of its own: deploy/chaos"))
            case .volume where server.volume == nil:
                outcomes.append(
                    ChaosOutcome(cell: cell.name, skipped: "needs a volume of its own: deploy/chaos, as root"))
            default:
                outcomes.append(try await play(cell, programs, server))
            }
        }
        if isChosen(PoisonCell.name) {
            StandardError.line("\(PoisonCell.name) …")
            outcomes.append(try await PoisonCell.play(programs, seed: UInt64(seed)))
        }
        return outcomes
    }

    private func play(
        _ cell: ChaosCell, _ programs: ChaosPrograms, _ server: ChaosServer
    ) async throws -> ChaosOutcome {
        try await BenchDatabase.with { database in
            let site = try await ChaosSite(database, programs)
            do {
                var outcome = ChaosOutcome(cell: cell.name)
                let load = try programs.load(rate * cell.seconds, perSecond: rate, seed: seed)
                defer { load.stop() }
                // Before it, so that the fault hits work under way.
                _ = try await site.untilServing()
                try await Task.sleep(for: .seconds(2))
                try await cell.fault(site, server)
                outcome.secondsToRecover = try await site.untilServing()
                let (acknowledged, repeated) = try await load.outcome()
                outcome.repeated = repeated
                try await site.eachWorks()
                try await site.untilDone()
                let probes = site.probes.load(ordering: .relaxed)
                outcome.posted = load.posted + probes
                outcome.acknowledged = acknowledged + probes
                let places = try await site.outbox.conservation()
                outcome.applied = Int(places.applied + places.parked)
                outcome.duplicate = Int(places.duplicate)
                outcome.dead = Int(places.dead)
                outcome.doubled = Int(places.doubled)
                outcome.lost = max(Int(places.missing), load.unique + probes - outcome.applied - outcome.dead)
                outcome.differences = try programs.run(["rebuild", "--check"], database.url).status == 0 ? 0 : 1
                await site.close()
                return outcome
            } catch {
                await site.close()
                throw error
            }
        }
    }
}
