import AppStorePayloads
package import AppStoreServerAPI
import AppStoreVerification
package import AppleRecords
package import Base
package import EvidenceStore
import Foundation
package import Logging
import Pipeline
import Postgres

/// Asks Apple for a test notification now and then, beside a worker, and follows it: asked, posted, stored, applied. So it is
/// known that Apple's posts arrive before a customer's does not. Any number of workers share the canaries.
package struct CanaryDuty: AppleDuty {
    package static let name = "The canary"
    package static let interval = Duration.seconds(2)
    package static let planning: Duration? = .seconds(10)
    /// After so long it is called overdue. Apple posts within seconds, and then not before an hour has passed.
    /// (App Store Server Notifications, "Responding to App Store Server Notifications")
    package static let patience = Duration.seconds(900)

    /// A question to Apple with all its repetitions.
    package static let lease = Duration.seconds(90)
    package let logger: Logger
    private let canaries: Canaries
    private let intervals: [(scope: AppEnvironment, interval: Duration)]
    private let patience: Duration
    private let metrics: AppleSyncMetrics

    /// A duty.
    /// - Parameters:
    ///   - canaries: over a connection of its own, so that workers never wait for it.
    ///   - intervals: how long after one canary the next is due, for each app and environment that is to have any.
    ///   - patience: when one is called overdue.
    package init(
        _ canaries: Canaries, intervals: [(scope: AppEnvironment, interval: Duration)],
        patience: Duration = Self.patience, logger: Logger, metrics: AppleSyncMetrics
    ) {
        self.canaries = canaries
        self.intervals = intervals
        self.patience = patience
        self.logger = logger
        self.metrics = metrics
    }

    package var queue: ScopedQueue { canaries.queue }

    package func plan(for scopes: [AppEnvironment]) async throws { try await canaries.plan(intervals) }

    package func claim(for lease: Lease, among scopes: [AppEnvironment]) async throws -> Canary? {
        try await canaries.claim(for: lease, among: scopes)
    }

    package func take(_ canary: Canary, _ client: AppStoreClient) async throws -> Postponement? {
        try await look(after: canary, client)
        return nil
    }

    /// Apple does not post one.
    package func settle(_ canary: Canary, by failure: AppStoreFailure) async throws -> Bool {
        try await settle(canary, failure.code)
        return true
    }

    private func look(after canary: Canary, _ client: AppStoreClient) async throws {
        let environment = Environment(rawValue: canary.scope.environment)
        guard let token = canary.token else {
            guard try await canaries.begin(canary) else { return }
            let answer = try await client.ask(.testNotification, in: environment, priority: .background)
            guard try await canaries.asked(canary, token: answer.value.testNotificationToken) else { return }
            return try await wait(canary, "asked")
        }
        let posted: TestNotificationStatus?
        do {
            posted = try await client.ask(
                .testNotificationStatus(token), in: environment, priority: .background
            ).value
        } catch let failure as AppStoreFailure where failure.reason == .apple(.testNotificationNotFound) {
            posted = nil
        }
        var arrival: CanaryArrival?
        if let posted {
            guard let identifier = UniqueIdentifier(posted.record.payload.payload.notificationUUID) else {
                throw UnusableAnswer.unreadable
            }
            guard
                try await canaries.posted(
                    canary, UUID(identifier),
                    at: posted.sendAttempts.compactMap(\.attemptDate).min().map {
                        PostgresTimestamp(millisecondsSince1970: $0.millisecondsSince1970)
                    }, result: posted.sendAttempts.last?.sendAttemptResult?.rawValue)
            else { return }
            arrival = try await canaries.arrival(of: UUID(identifier))
        }
        switch arrival?.place {
        case .applied: try await settle(canary, "applied", arrival)
        case .recovered: try await settle(canary, "recovered", arrival)
        case .dead: try await settle(canary, "dead_letter", arrival)
        case nil where canary.age ?? .zero > patience: try await settle(canary, "overdue")
        case nil:
            try await wait(canary, posted == nil ? "asked" : "posted")
        }
    }

    /// Looks again later; that is how it goes, and no attempt.
    private func wait(_ canary: Canary, _ reason: String) async throws {
        try await queue.putOff(
            canary.claim, by: Self.pause(after: canary.age ?? .zero), reason: reason, isItsOwn: false)
    }

    private func settle(_ canary: Canary, _ outcome: String, _ arrival: CanaryArrival? = nil) async throws {
        guard let times = try await canaries.settle(canary, outcome: outcome, arrival) else { return }
        metrics.canary(outcome, times, in: canary.scope)
        guard outcome != "applied" else { return }
        logger.warning(
            "A test notification of Apple's did not come through; see StorehookCanaryMissing in deploy/runbook.md",
            metadata: [
                "app": "\(canary.scope.bundleID)", "environment": "\(canary.scope.environment)",
                "outcome": "\(outcome)",
            ])
    }

    /// Often at first, while it can be seconds; then seldom.
    private static func pause(after age: Duration) -> Duration {
        max(.seconds(2), min(age / 4, .seconds(60)))
    }
}
