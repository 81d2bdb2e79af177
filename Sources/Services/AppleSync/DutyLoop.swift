import AppleRecords
import Base
import EvidenceStore
import Logging
import Postgres
import ServiceLifecycle

/// Does what falls due beside a worker, one thing after the other, until graceful shutdown. Whatever fails is said and tried
/// again: an Apple that is away must not end a worker, nor slow it.
struct DutyLoop: Sendable {
    /// What one step came to.
    enum Step: Sendable {
        /// Something was done; perhaps there is more.
        case worked
        /// Nothing is due.
        case idle
        /// Whatever is due fails at present.
        case inTrouble(String)
    }

    let name: String
    /// Between two looks where nothing is due, give or take a quarter, so that many workers do not come together.
    let interval: Duration
    let logger: Logger

    func run(_ step: @Sendable () async throws -> Step) async {
        var failures = 0
        while !Task.isCancelled {
            let pause: Duration
            do {
                switch try await step() {
                case .worked:
                    failures = 0
                    continue
                case .idle:
                    failures = 0
                    pause = interval * Double.random(in: 0.75...1.25)
                case .inTrouble(let reason):
                    failures += 1
                    say(failures, reason)
                    pause = Self.backoff.pause(afterFailures: failures)
                }
            } catch {
                if Task.isCancelled { return }
                failures += 1
                say(failures, "\(error)")
                pause = Self.backoff.pause(afterFailures: failures)
            }
            try? await Task.sleep(for: pause)
        }
    }

    /// Once, not once a minute for as long as Apple is away.
    private func say(_ failures: Int, _ reason: String) {
        guard failures == 1 else { return }
        logger.warning("\(name) is put off; trying on", metadata: ["reason": "\(reason)"])
    }

    private static let backoff = RetrySchedule.doubling(from: .seconds(1), upTo: .seconds(60))
}

extension DutyLoop.Step {
    /// What becomes of a claimed row whose work failed: it is put off, and with it whatever would fail the same way; where the
    /// process is to end it is given back.
    /// - Throws: `CancellationError`, or `PostgresError` where not even that can be written down.
    static func after(
        _ error: any Error, of row: (id: Int64, scope: AppEnvironment, attempts: Int, lease: Lease),
        in queue: ScopedQueue
    ) async throws -> Self {
        guard !Task.isCancelled, let postponement = Postponement(error, attempts: row.attempts) else {
            // In a task of its own: this one is cancelled.
            try? await Task { try await queue.giveBack(row.id, row.lease) }.value
            throw CancellationError()
        }
        try await queue.putOff(row, postponement)
        return postponement.isGeneral ? .inTrouble(postponement.text) : .worked
    }
}

extension ScopedQueue {
    /// Puts a row off for what a failure asks for, and with it all of its app and environment where they would fail the same way.
    func putOff(
        _ row: (id: Int64, scope: AppEnvironment, attempts: Int, lease: Lease), _ postponement: Postponement
    ) async throws {
        try await putOff(
            row.id, by: postponement.delay, reason: postponement.reason, isItsOwn: postponement.breadth == .one,
            row.lease)
        if postponement.breadth == .scope {
            try await putOff(allOf: row.scope, by: postponement.delay, reason: postponement.reason)
        }
    }
}
