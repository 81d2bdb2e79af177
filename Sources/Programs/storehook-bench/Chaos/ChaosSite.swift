import ArgumentParser
import Foundation
import Glibc
import Logging
import Outbox
import Postgres
import Queue
import Simulator
import Synchronization

/// What a cell plays out in: a database of its own, a receiver and two workers under supervision, and a stand-in for Apple
/// that posts.
final class ChaosSite: Sendable {
    /// How long a claim lasts, in seconds: short, so that a cell is over soon.
    static let leaseSeconds = 5

    let database: BenchDatabase
    let outbox: Outbox
    let programs: ChaosPrograms
    let receiver: SupervisedProgram
    let workers: [SupervisedProgram]
    /// Notifications posted by itself, beside the load.
    let probes = Atomic(0)

    init(_ database: BenchDatabase, _ programs: ChaosPrograms) async throws {
        self.database = database
        self.programs = programs
        outbox = Outbox(database.pool)
        receiver = try programs.receiver(database.url)
        workers = try (0..<2).map { _ in try programs.supervised(["work"], database.url) }
        try await patiently("the receiver answers", within: .seconds(20)) { await programs.receiverIsReady() }
    }

    /// Ends its programs.
    func close() async {
        await receiver.stop()
        for worker in workers { await worker.stop() }
    }

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

    /// Waits until nothing is left to do, the open letters aside.
    func untilDone() async throws {
        try await patiently("the queue is empty", within: .seconds(240)) { try await self.outbox.queue.pending() == 0 }
    }
}

/// Something that had to come about and did not.
struct NeverCameAbout: Error, CustomStringConvertible {
    let what: String
    var description: String { "this never came about: \(what)" }
}

/// Looks until `condition` holds; a look that fails, because the database is unavailable, is a look all the same.
func patiently(
    _ what: String, within limit: Duration, _ condition: @Sendable () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while (try? await condition()) != true {
        guard ContinuousClock.now < end else { throw NeverCameAbout(what: what) }
        try await Task.sleep(for: .milliseconds(20))
    }
}
