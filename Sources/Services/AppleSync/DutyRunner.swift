import AppStoreServerAPI
import AppleRecords
import Base
import EvidenceStore
import Logging
package import Pipeline
import Postgres
import ServiceLifecycle
import Synchronization

/// Does a duty beside a worker, one row after the other, until graceful shutdown. Whatever fails is logged and tried again: an Apple
/// that is away must not end a worker, nor slow it.
package struct DutyRunner<Duty: AppleDuty>: Service {
    /// The duty.
    var duty: Duty
    private let clients: AppleClients
    private let owner: String
    private let interval: Duration
    private let planned = PlanClock()

    /// A runner.
    /// - Parameters:
    ///   - clients: the apps that Apple may be asked about.
    ///   - owner: the name, for people, of the holder of a row.
    ///   - interval: between two looks where nothing is due, give or take a quarter, so that many workers do not come together. Zero,
    ///     for tests: each step plans.
    package init(_ duty: Duty, _ clients: AppleClients, owner: String, interval: Duration = Duty.interval) {
        self.duty = duty
        self.clients = clients
        self.owner = owner
        self.interval = interval
    }

    /// Works until graceful shutdown; the row in hand is then given back where it stands.
    package func run() async throws {
        await cancelWhenGracefulShutdown { await loop() }
    }

    private func loop() async {
        var failures = 0
        while !Task.isCancelled {
            let trouble: String
            do {
                switch try await step() {
                case .worked:
                    failures = 0
                    continue
                case .idle:
                    failures = 0
                    try? await Task.sleep(for: interval.jittered)
                    continue
                case .inTrouble(let reason): trouble = reason
                }
            } catch {
                if Task.isCancelled { return }
                trouble = "\(error)"
            }
            failures += 1
            // Once, not once a minute for as long as Apple is away.
            if failures == 1 {
                duty.logger.warning("\(Duty.name) is put off; trying on", metadata: ["reason": "\(trouble)"])
            }
            try? await Task.sleep(for: DutyBackoff.loop.pause(afterFailures: failures))
        }
    }

    /// Plans now and then, and works one row.
    func step() async throws -> DutyStep {
        if interval == .zero || planned.isDue(every: Duty.planning ?? interval) {
            try await duty.plan(for: clients.scopes)
            planned.done()
        }
        return switch try await next(of: clients.scopes) {
        case nil: .idle
        case .postponed(let why)? where why.isGeneral: .inTrouble(why.text)
        case .done?, .postponed?: .worked
        }
    }

    /// Claims the next row of these app environments, all of them among the clients', and works it; nil if none is due.
    /// - Throws: `CancellationError`, or `PostgresError` where not even a failure can be written down.
    func next(of scopes: [AppEnvironment]) async throws -> DutyOutcome? {
        let lease = Lease(owner: owner, duration: Duty.lease)
        guard let row = try await duty.claim(for: lease, among: scopes) else { return nil }
        return try await work(row)
    }

    /// Works a claimed row; nil, and given back, where there is no client for its app.
    /// - Throws: as ``next(of:)``.
    func work(_ row: Duty.Row) async throws -> DutyOutcome? {
        guard let client = clients.client(of: row.scope) else {
            try await duty.queue.giveBack(row.claim)
            return nil
        }
        do {
            return try await duty.take(row, client).map { DutyOutcome.postponed($0) } ?? .done
        } catch let failure as AppStoreFailure where !failure.isTransient {
            return try await duty.settle(row, by: failure) ? .done : putOff(row, after: failure)
        } catch {
            return try await putOff(row, after: error)
        }
    }

    private func putOff(_ row: Duty.Row, after error: any Error) async throws -> DutyOutcome {
        guard !Task.isCancelled, let postponement = Postponement(error, attempts: row.claim.attempts) else {
            // In a task of its own: this one is cancelled.
            try? await Task { try await duty.queue.giveBack(row.claim) }.value
            throw CancellationError()
        }
        try await duty.putOff(row, postponement)
        return .postponed(postponement)
    }
}

/// What one step of a duty came to.
enum DutyStep: Sendable {
    /// Something was done; perhaps there is more.
    case worked
    /// Nothing is due.
    case idle
    /// Whatever is due fails at present.
    case inTrouble(String)
}

/// What one turn of a row came to.
enum DutyOutcome: Sendable {
    /// Apple was asked, and its answer applied.
    case done
    /// It failed, and is due again later.
    case postponed(Postponement)
}

/// A generic type has no constants of its own.
private enum DutyBackoff {
    static let loop = RetrySchedule.doubling(from: .seconds(1), upTo: .seconds(60))
}

/// When something was done last, by the process's own clock.
final class PlanClock: Sendable {
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    func isDue(every interval: Duration) -> Bool {
        last.withLock { last in last.map { ContinuousClock.now - $0 >= interval } ?? true }
    }

    func done() { last.withLock { $0 = .now } }
}
