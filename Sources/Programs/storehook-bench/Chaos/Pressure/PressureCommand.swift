import ArgumentParser
import EvidenceStore
import Foundation
import Postgres

/// How fast a backlog goes while something weighs on the database, beside how fast it went before, in one run.
struct PressureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pressure",
        abstract: "Throughput while something weighs on the database, beside throughput before it.",
        discussion: """
            Needs DATABASE_URL of a server on which databases may be created, and the storehook program beside this one.

            Example: storehook-bench pressure --cells dead-letters,scheduled
            """)

    @Option(help: "Comma-separated: \(PressureCell.all.map(\.name).joined(separator: ", ")).") var cells: String?
    @Option(help: "Notifications in each backlog.") var backlog = 20_000
    @Option(help: "Seconds for which the vacuum horizon is pinned under load before the second backlog.")
    var pinned = 180
    @Option(help: "A program that becomes the PostgreSQL server of DATABASE_URL.") var server: String?
    @Flag(help: "Print one JSON object a cell instead of a table.") var json = false

    func validate() throws {
        guard (100...1_000_000).contains(backlog), (1...3600).contains(pinned) else {
            throw ValidationError("--backlog goes from 100 to 1000000, --pinned from 1 to 3600")
        }
        for cell in chosen ?? [] where !PressureCell.all.contains(where: { $0.name == cell }) {
            throw ValidationError("there is no cell \(cell); see storehook-bench pressure --help")
        }
    }

    private var chosen: [String]? { cells?.split(separator: ",").map(String.init) }

    func run() async throws {
        let workplace = FileManager.default.temporaryDirectory.appending(path: "storehook-chaos-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: workplace, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: workplace) }
        let programs = try ChaosPrograms(workplace: workplace)
        let server = try ChaosServer(
            start: server.map { URL(fileURLWithPath: $0) }, volume: nil, log: programs.log)
        do {
            try await server.untilReady()
            if !json {
                print("| while | before, /s | during, /s | ratio |")
                print("|---|---:|---:|---:|")
            }
            for cell in PressureCell.all where chosen?.contains(cell.name) ?? true {
                StandardError.line("\(cell.name) …")
                let (before, during) = try await measure(cell, programs)
                let ratio = (during / before * 100).rounded() / 100
                let (first, second) = (Int(before.rounded()), Int(during.rounded()))
                print(
                    json
                        ? "{\"cell\":\"\(cell.name)\",\"before\":\(first),\"during\":\(second),\"ratio\":\(ratio)}"
                        : "| \(cell.name) | \(first) | \(second) | \(ratio) |")
            }
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    private func measure(_ cell: PressureCell, _ programs: ChaosPrograms) async throws -> (Double, Double) {
        try await BenchDatabase.with { database in
            // The first one warms what the second and the third then find warm.
            _ = try await drain(backlog / 4, 1, database, programs)
            let before = try await drain(backlog, 2, database, programs)
            let weight = PressureWeight()
            let during: Double
            do {
                try await cell.burden(weight, PressureSetting(database: database, programs: programs, seconds: pinned))
                during = try await drain(backlog, 3, database, programs)
            } catch {
                try? await weight.lift()
                throw error
            }
            try await weight.lift()
            return (before, during)
        }
    }

    /// Notifications a second, by two workers.
    private func drain(
        _ notifications: Int, _ seed: UInt64, _ database: BenchDatabase, _ programs: ChaosPrograms
    ) async throws -> Double {
        let waiting = try await Backlog.store(notifications, seed: seed, by: programs.authority, in: database)
        let start: PostgresTimestamp = try await database.pool.query("select clock_timestamp()").one().decode(0)
        let workers = try (0..<2).map { _ in try programs.supervised(["work"], database.url) }
        do {
            let seconds = try await waiting.untilDone(from: start, in: database) {
                workers.allSatisfy { $0.starts == 1 }
            }
            for worker in workers { await worker.stop() }
            return Double(notifications) / seconds
        } catch {
            for worker in workers { await worker.stop() }
            throw error
        }
    }
}
