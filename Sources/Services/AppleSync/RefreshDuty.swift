package import AppStoreServerAPI
package import AppleRecords
package import Base
package import EvidenceStore
package import Logging
import Pipeline

/// Asks Apple about purchases that the records contradict, beside a worker: what is missing of them comes with the answer. A
/// purchase that was asked for is left alone for a while, whatever came of it.
///
/// It also refreshes the purchases whose period has ended without the renewal that is due: Apple's answer decides
/// before their status stops waiting for it.
package struct RefreshDuty: AppleDuty {
    package static let name = "Refreshing of purchases"
    package static let interval = Duration.seconds(60)

    /// All pages of a purchase, at Apple's slowest rate.
    package static let lease = Duration.seconds(600)
    package let logger: Logger
    private let history: History
    private let leeway: Duration
    private let metrics: AppleSyncMetrics

    /// A duty.
    /// - Parameters:
    ///   - history: over a connection of its own, so that workers never wait for it.
    ///   - leeway: how long after a period's end a status waits for the renewal; zero: Apple is not asked about it.
    package init(_ history: History, leeway: Duration = .zero, logger: Logger, metrics: AppleSyncMetrics) {
        self.history = history
        self.leeway = leeway
        self.logger = logger
        self.metrics = metrics
    }

    package var queue: ScopedQueue { history.refreshQueue }

    package func plan(for scopes: [AppEnvironment]) async throws {
        try await history.planRefreshes(scopes)
        try await history.planAwaited(scopes, leeway: leeway)
    }

    package func claim(for lease: Lease, among scopes: [AppEnvironment]) async throws -> Refresh? {
        try await history.claimRefresh(for: lease, among: scopes)
    }

    package func take(_ refresh: Refresh, _ client: AppStoreClient) async throws -> Postponement? {
        let report = try await PurchaseRefresh(history, client, priority: .background)
            .run(refresh.originalTransactionID, in: Environment(rawValue: refresh.scope.environment))
        if report.refused > 0 {
            logger.warning(
                "Apple's answers about a purchase hold what Apple did not sign",
                metadata: ["purchase": "\(refresh.originalTransactionID)", "records": "\(report.refused)"])
        }
        try await history.finish(
            refresh, stored: report.stored, outcome: report.refused > 0 ? "refused" : "refreshed")
        metrics.refreshed(report.refused > 0 ? "failed" : "refreshed")
        return nil
    }

    package func settle(_ refresh: Refresh, by failure: AppStoreFailure) async throws -> Bool {
        guard failure.isAboutThePurchase else { return false }
        try await history.finish(refresh, stored: 0, outcome: failure.code)
        metrics.refreshed("unknown")
        return true
    }

    package func putOff(_ refresh: Refresh, _ postponement: Postponement) async throws {
        try await queue.putOff(refresh.claim, postponement)
        metrics.refreshed("failed")
    }
}

extension AppStoreFailure {
    /// Whether the failure is about the purchase, not about the client that asks.
    fileprivate var isAboutThePurchase: Bool {
        if case .apple = reason { true } else { false }
    }
}
