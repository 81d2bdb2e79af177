package import AppStoreServerAPI
package import AppleRecords
package import Base
package import EvidenceStore
package import Logging

/// Compares what is stored with Apple's notification history, beside a worker: all of it at first, then hour by hour
/// behind the present. Any number of workers share the windows.
package struct HistoryDuty: AppleDuty {
    package static let name = "Reconciliation"
    package static let interval = Duration.seconds(30)
    /// How far behind the present Apple is asked: Apple posts and lists within seconds, and what is on its way is not missing.
    package static let behind = Duration.seconds(600)
    /// How long a window is held from one page to the next: longer than a page may take with all its repetitions.
    package static let lease = Duration.seconds(90)

    package let logger: Logger
    private let history: History
    private let budget: RateBudget?
    private let metrics: AppleSyncMetrics
    private let divided = PlanClock()
    /// Hears what each page brought.
    var progress: @Sendable (HistoryWalk.Progress) -> Void = { _ in }

    /// A duty.
    /// - Parameters:
    ///   - history: over a connection of its own, so that workers never wait for it.
    ///   - budget: what all processes that ask may ask together, to be divided among them; nil: it stays as it is.
    package init(_ history: History, sharing budget: RateBudget?, logger: Logger, metrics: AppleSyncMetrics) {
        self.history = history
        self.budget = budget
        self.logger = logger
        self.metrics = metrics
    }

    package var queue: ScopedQueue { history.queue }

    package func plan(for scopes: [AppEnvironment]) async throws {
        try await history.plan(scopes, behind: Self.behind)
    }

    package func claim(for lease: Lease, among scopes: [AppEnvironment]) async throws -> HistoryWindow? {
        if let budget, divided.isDue(every: .seconds(10)) {
            budget.divide(among: try await history.askers(beside: lease.owner, lease: lease.duration))
            divided.done()
        }
        return try await history.claim(for: lease, among: scopes)
    }

    /// Walks a window from where it was left.
    package func take(_ window: HistoryWindow, _ client: AppStoreClient) async throws -> Postponement? {
        let walk = HistoryWalk(history, client) { step in
            metrics.count(step, in: window.scope)
            progress(step)
        }
        if try await walk.run(window) == .refused {
            logger.warning(
                "Apple's notification history lists what Apple did not sign; the window stays unproven",
                metadata: ["app": "\(window.scope.bundleID)", "environment": "\(window.scope.environment)"])
        }
        return nil
    }

    package func putOff(_ window: HistoryWindow, _ postponement: Postponement) async throws {
        logger.debug(
            "Put a window of Apple's notification history off",
            metadata: ["reason": "\(postponement.reason)", "error": "\(postponement.text)"])
        try await queue.putOff(window.claim, postponement)
    }
}
