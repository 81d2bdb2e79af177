import AppStoreServerAPI
package import AppleRecords
import Base
import EvidenceStore
package import Logging
package import Pipeline
import ServiceLifecycle
import Synchronization

/// Holds what is stored against Apple's notification history, beside a worker: all of it at first, then hour by hour behind
/// the present. Any number of workers share the windows.
package struct HistoryDuty: Service {
    private let history: History
    private let clients: AppleClients
    private let owner: String
    private let lease: Duration
    private let interval: Duration
    private let logger: Logger
    private let metrics: AppleSyncMetrics
    private let planned = PlanClock()
    private let divided = PlanClock()

    /// How far behind the present Apple is asked: Apple posts and lists within seconds, and what is on its way is not missing.
    package static let behind = Duration.seconds(600)
    /// How long a window is held from one page to the next: longer than a page may take with all its repetitions.
    package static let lease = Duration.seconds(90)

    /// A duty.
    /// - Parameters:
    ///   - history: over a connection of its own, so that those who work never wait for it.
    ///   - owner: who holds a window, for people.
    package init(
        _ history: History, _ clients: AppleClients, owner: String, lease: Duration = Self.lease,
        interval: Duration = .seconds(30), logger: Logger, metrics: AppleSyncMetrics
    ) {
        self.history = history
        self.clients = clients
        self.owner = owner
        self.lease = lease
        self.interval = interval
        self.logger = logger
        self.metrics = metrics
    }

    /// Works until graceful shutdown; the window in hand is then given back where it stands.
    package func run() async throws {
        let loop = DutyLoop(name: "Reconciliation", interval: interval, logger: logger)
        await cancelWhenGracefulShutdown { await loop.run { try await step() } }
    }

    /// Plans now and then, and asks one window.
    func step() async throws -> DutyLoop.Step {
        if planned.isDue(every: interval) {
            try await history.plan(clients.scopes, behind: Self.behind)
            planned.done()
        }
        switch try await next(of: clients.scopes) {
        case nil: return .idle
        case .postponed(let why)? where why.isGeneral: return .inTrouble(why.text)
        default: return .worked
        }
    }

    /// What became of a window.
    enum Outcome: Sendable {
        /// It was walked to its end, or somebody else took it over.
        case ended(HistoryWalk.End)
        /// It is due again later.
        case postponed(Postponement)
    }

    /// Claims the next window of those apps and environments, all of them among the clients', and walks it; nil if none is due.
    /// - Throws: `CancellationError`, or `PostgresError` where not even a failure can be written down.
    func next(
        of scopes: [AppEnvironment], _ progress: @escaping @Sendable (HistoryWalk.Progress) -> Void = { _ in }
    ) async throws -> Outcome? {
        if let budget = clients.budget, divided.isDue(every: .seconds(10)) {
            budget.divide(among: try await history.askers(beside: owner, lease: lease))
            divided.done()
        }
        guard let window = try await history.claim(for: Lease(owner: owner, duration: lease), among: scopes),
            let client = clients.client(of: window.scope)
        else { return nil }
        let walk = HistoryWalk(history, client) { step in
            metrics.count(step, in: window.scope)
            progress(step)
        }
        do {
            let end = try await walk.run(window)
            if end == .refused {
                logger.warning(
                    "Apple's notification history lists what Apple did not sign; the window stays unproven",
                    metadata: ["app": "\(window.scope.bundleID)", "environment": "\(window.scope.environment)"])
            }
            return .ended(end)
        } catch {
            guard !Task.isCancelled, let postponement = Postponement(error, attempts: window.attempts) else {
                // In a task of its own: this one is cancelled.
                try? await Task { try await history.queue.giveBack(window.id, window.lease) }.value
                throw CancellationError()
            }
            logger.debug(
                "Put a window of Apple's notification history off",
                metadata: ["reason": "\(postponement.reason)", "error": "\(error)"])
            try await history.queue.putOff(
                (window.id, window.scope, window.attempts, window.lease), postponement)
            return .postponed(postponement)
        }
    }
}

/// When something was done last, by the process's own clock.
final class PlanClock: Sendable {
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    func isDue(every interval: Duration) -> Bool {
        last.withLock { last in last.map { ContinuousClock.now - $0 >= interval } ?? true }
    }

    func done() { last.withLock { $0 = .now } }
}
