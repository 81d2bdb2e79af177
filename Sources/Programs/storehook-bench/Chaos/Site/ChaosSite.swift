import EvidenceStore
import Foundation
import Glibc
import Postgres
import Simulation
import Synchronization

/// What a cell plays out in: a database of its own, a receiver and two workers under supervision, and a stand-in for Apple
/// that posts.
final class ChaosSite: Sendable {
    /// How long a claim lasts, in seconds: short, so that a cell is over soon.
    static let leaseSeconds = 5

    /// How a program comes to the database.
    struct Access: Sendable {
        /// Its `DATABASE_URL`.
        var url: String
        /// What runs it somewhere else; empty: runs here.
        var command: [String] = []
        /// Further environment variables.
        var settings: [String: String] = [:]
        /// Where a worker's operations routes are; nil for nowhere.
        var metricsPort: Int?
    }

    let database: BenchDatabase
    let outbox: Outbox
    let programs: ChaosPrograms
    let receiver: SupervisedProgram
    let workers: [SupervisedProgram]
    /// Notifications posted by itself, beside the load.
    let probes = Atomic(0)
    private let complaints = Mutex<[String]>([])

    private init(
        _ database: BenchDatabase, _ programs: ChaosPrograms, receiver: Access, workers: [Access]
    ) throws {
        self.database = database
        self.programs = programs
        outbox = Outbox(database.pool)
        self.receiver = try programs.receiver(receiver.url)
        self.workers = try workers.map { worker in
            try programs.supervised(
                ["work"] + (worker.metricsPort.map { ["--metrics-port", "\($0)"] } ?? []), worker.url,
                by: worker.command, with: worker.settings)
        }
    }

    /// Starts the programs, and ends them after `body`.
    /// - Parameters:
    ///   - receiver: nil: as the database's owner, here.
    ///   - worker: of each of the two; nil: as the receiver.
    static func with<T>(
        _ database: BenchDatabase, _ programs: ChaosPrograms, receiver: Access? = nil,
        worker: ((Int) -> Access)? = nil, _ body: (ChaosSite) async throws -> T
    ) async throws -> T {
        let receiver = receiver ?? Access(url: database.url)
        let site = try ChaosSite(
            database, programs, receiver: receiver, workers: (0..<2).map { worker?($0) ?? receiver })
        do {
            try await patiently("the receiver answers", within: .seconds(20)) { await programs.receiverIsReady() }
            let result = try await body(site)
            await site.close()
            return result
        } catch {
            await site.close()
            throw error
        }
    }

    private func close() async {
        // Together: one that hangs is given its time, and the others need not wait for that.
        await withTaskGroup { group in
            for program in [receiver] + workers { group.addTask { await program.stop() } }
        }
    }

    /// Notes something that may not happen and did.
    func complain(_ what: String) { complaints.withLock { $0.append(what) } }

    /// All that was noted.
    var noted: [String] { complaints.withLock(\.self) }

    /// Waits until a notification posted from now on is applied.
    /// - Returns: seconds it took.
    func untilServing() async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        let (uuid, text) = try programs.probe(probes.add(1, ordering: .relaxed).newValue)
        try await patiently("a post is answered 200", within: .seconds(120)) { await self.programs.post(text) == 200 }
        try await patiently("it is applied", within: .seconds(120)) {
            try await self.database.pool.query(
                "select 1 from storehook.notifications where notification_uuid = \(uuid)"
            ).count == 1
        }
        return (clock.now - start) / .seconds(1)
    }

    /// Sees that each worker works, and not one for both: in turn, while the other one stands still.
    func eachWorks() async throws {
        for worker in workers {
            try await patiently("every worker runs", within: .seconds(60)) { worker.id != nil }
            let others = workers.filter { $0 !== worker }
            for other in others { other.signal(SIGSTOP) }
            defer { for other in others { other.signal(SIGCONT) } }
            _ = try await untilServing()
        }
    }

    /// Waits until no work is left, apart from open dead letters; notes what is left if that takes too long.
    func untilDone() async throws {
        do {
            try await patiently("the queue is empty", within: .seconds(120)) {
                try await self.outbox.queue.pending() == 0
            }
        } catch is NeverCameAbout {
            for row in try await database.pool.query(
                "select coalesce(last_reason, 'no reason'), count(*) from storehook.outbox_queue group by 1")
            {
                let (reason, count): (String, Int64) = try (row.decode(0), row.decode(1))
                complain("\(count) notifications still wait: \(reason)")
            }
        }
    }

    /// How many of the notifications that are stored cannot be read back from what the database holds.
    func unreadable() async throws -> Int {
        // By one that has learned nothing yet, so that memory fills no gap.
        let reader = Outbox(database.pool)
        let rows = try await database.pool.query("select id, received_at from storehook.outbox").map {
            (id: try $0.decode(0, as: Int64.self), receivedAt: try $0.decode(1, as: PostgresTimestamp.self))
        }
        var unreadable = 0
        for start in stride(from: 0, to: rows.count, by: 500) {
            let part = Array(rows[start..<min(start + 500, rows.count)])
            unreadable += try await database.pool.withTransaction { session in
                try reader.evidence(of: part, session).count { (try? $0?.body.get()) == nil }
            }
        }
        return unreadable
    }
}
