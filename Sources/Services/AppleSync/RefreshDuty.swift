import AppStorePayloads
import AppStoreServerAPI
package import AppleRecords
import Base
import EvidenceStore
package import Logging
package import Pipeline
import ServiceLifecycle

/// Asks Apple about purchases that the records contradict, beside a worker: what is missing of them comes with the answer. A
/// purchase that was asked for is left alone for a while, whatever came of it.
///
/// And about those whose period has ended without a word of the renewal that is due: what Apple says of them decides before
/// their status stops waiting for it.
package struct RefreshDuty: Service {
    private let history: History
    private let clients: AppleClients
    private let owner: String
    private let leeway: Duration
    private let interval: Duration
    private let logger: Logger
    private let metrics: AppleSyncMetrics
    private let planned = PlanClock()

    /// How long a purchase is held: all its pages, at Apple's slowest rate.
    private static let lease = Duration.seconds(600)

    /// A duty; see ``HistoryDuty``.
    /// - Parameter leeway: how long after a period's end a status waits for the renewal; zero: Apple is not asked about it.
    package init(
        _ history: History, _ clients: AppleClients, owner: String, leeway: Duration = .zero,
        interval: Duration = .seconds(60), logger: Logger, metrics: AppleSyncMetrics
    ) {
        self.history = history
        self.clients = clients
        self.owner = owner
        self.leeway = leeway
        self.interval = interval
        self.logger = logger
        self.metrics = metrics
    }

    /// Works until graceful shutdown; the purchase in hand is then given back.
    package func run() async throws {
        let loop = DutyLoop(name: "Refreshing of purchases", interval: interval, logger: logger)
        await cancelWhenGracefulShutdown { await loop.run { try await step() } }
    }

    /// Plans now and then, and asks for one purchase.
    func step() async throws -> DutyLoop.Step {
        if planned.isDue(every: interval) {
            try await history.planRefreshes(clients.scopes)
            try await history.planAwaited(clients.scopes, leeway: leeway)
            planned.done()
        }
        let lease = Lease(owner: owner, duration: Self.lease)
        guard let refresh = try await history.claimRefresh(for: lease, among: clients.scopes),
            let client = clients.client(of: refresh.scope)
        else { return .idle }
        do {
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
            return .worked
        } catch let failure as AppStoreFailure where !failure.isTransient && failure.isAboutThePurchase {
            try await history.finish(refresh, stored: 0, outcome: failure.code)
            metrics.refreshed("unknown")
            return .worked
        } catch {
            let step = try await DutyLoop.Step.after(
                error, of: (refresh.id, refresh.scope, refresh.attempts, refresh.lease), in: history.refreshQueue)
            metrics.refreshed("failed")
            return step
        }
    }
}

extension AppStoreFailure {
    /// Whether Apple has said something about what was asked for, rather than about who asks.
    fileprivate var isAboutThePurchase: Bool {
        if case .apple = reason { true } else { false }
    }
}
