import APIKit
package import AccountStore
import Base
package import Logging
import Synchronization

/// What apps report of attempts to buy and to restore: one line a second at most, however many reports come, with how many there were
/// since the line before. It is about the latest.
///
/// A line names the account by its appAccountToken, because an id may be an e-mail address. The app's reason is in none, and neither is
/// what stands in the place of an id and is none: an app may write anything there.
package final class AttemptLog: Sendable {
    private let logger: Logger
    private let line = Mutex(TalliedLine(every: .seconds(1)))
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// A log.
    package init(_ logger: Logger, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.logger = logger
        self.clock = clock
    }

    /// Writes a line, unless one was written less than a second ago: then the next line counts this report, too.
    package func note(_ attempt: PurchaseAttempt, by caller: Caller) {
        guard logger.logLevel <= .info else { return }
        let now = clock()
        guard let count = line.withLock({ $0.count(at: now) }) else { return }
        var metadata: Logger.Metadata = [
            "app_account_token": "\(attempt.account)", "kind": "\(attempt.kind.rawValue)",
            "outcome": "\(attempt.outcome.rawValue)", "count": "\(count)",
        ]
        metadata["product"] = Self.shown(attempt.productID)
        metadata["transaction_id"] = Self.shown(attempt.transactionID)
        metadata["environment"] = attempt.environment.map { "\($0.rawValue)" }
        if caller.isServer { metadata["by"] = "server key" }
        if let request = RequestID.current { metadata["request"] = "\(request)" }
        logger.info("An app has reported an attempt to buy or to restore", metadata: metadata)
    }

    private static func shown(_ id: String?) -> Logger.MetadataValue? {
        id.flatMap { PurchaseAttempt.isPlain($0) ? "\($0)" : nil }
    }
}
