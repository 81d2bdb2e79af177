import ArgumentParser
import EventStore
import EvidenceStore
import FigureStore
import Foundation
import OrderStore
import Postgres
import Simulation

/// One backlog, done by worker processes as they are run in production.
struct DrainRun {
    let waiting: Backlog
    /// From the workers' start to the last row's transaction.
    let seconds: Double
    let workerCPU: Double
    /// Nil where the server runs on another machine.
    let serverCPU: Double?
    let walBytes: Int64

    var perSecond: Double { Double(waiting.notifications) / seconds }

    /// Stores a backlog, starts the workers, waits for its end, and accounts for each notification.
    /// - Parameters:
    ///   - hasFigures: whether days are marked, and summed by the workers.
    ///   - arguments: of a worker of this program's own in place of `storehook work`.
    static func measure(
        _ backlog: Int, workers: Int, batch: Int, seed: UInt64, knowing: Bool = true, hasFigures: Bool = true,
        _ authority: SimulatedAuthority, _ database: BenchDatabase, running arguments: [String]? = nil
    ) async throws -> DrainRun {
        let waiting = try await Backlog.store(backlog, seed: seed, by: authority, knowing: knowing, in: database)
        if !hasFigures {
            try await database.pool.withTransaction { try $0.executeScript(FigureTriggers.script("disable")) }
        }
        let wal = try await database.walBytes()
        let serverBefore = try await database.serverCPUSeconds()
        let start: PostgresTimestamp = try await database.pool.query("select clock_timestamp()").one().decode(0)
        let processes = try (0..<workers).map { _ in try worker(database, authority, batch: batch, arguments) }
        defer { for process in processes where process.isRunning { process.terminate() } }
        let seconds = try await waiting.untilDone(from: start, in: database) { processes.allSatisfy(\.isRunning) }
        // Events get their places beside the workers, a moment after they are written.
        while try await EventStore(database.pool).status().unplaced > 0 { try await Task.sleep(for: .milliseconds(50)) }
        // So do orders get their numbers, and the days of what was booked are summed.
        let (orders, figures) = (OrderStore(database.pool), FigureStore(database.pool))
        while true {
            let isDue = (try await orders.isDue(), try await figures.isDue(in: "UTC"))
            guard isDue.0 || isDue.1 else { break }
            try await Task.sleep(for: .milliseconds(50))
        }
        let workerCPU = processes.compactMap { ProcessTimes.cpuSeconds(of: $0.processIdentifier) }.reduce(0, +)
        let serverAfter = try await database.serverCPUSeconds()
        let walBytes = try await database.walBytes() - wal
        let end = try await Outbox(database.pool).conservation()
        for process in processes {
            process.terminate()
            process.waitUntilExit()
        }
        guard end.missing == 0, end.doubled == 0, end.applied + end.parked == Int64(backlog) else {
            throw ValidationError("not every notification was applied: \(end)")
        }
        return DrainRun(
            waiting: waiting, seconds: seconds, workerCPU: workerCPU,
            serverCPU: serverBefore.flatMap { before in serverAfter.map { $0 - before } }, walBytes: walBytes)
    }

    private static func worker(
        _ database: BenchDatabase, _ authority: SimulatedAuthority, batch: Int, _ arguments: [String]?
    ) throws -> Process {
        let process = Process()
        process.executableURL = ChaosPrograms.beside(arguments == nil ? "storehook" : "storehook-bench")
        // With metrics as in production, on ports that are never scraped.
        process.arguments = arguments ?? ["work", "--batch", "\(batch)", "--metrics-port", "0"]
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
