package import Accounts
package import Base
package import EventStore
import Events
package import Logging
import Subscriptions
import Synchronization

/// Lines of the log about what becomes of customers: one for each thing.
///
/// If several of a kind come within a second, one line reports one of them, and its `count` is how many came since the line before.
/// Until a line is due nothing is put together: the cost is to count. A line names an account by its appAccountToken alone, never by its
/// id, which may be an e-mail address, and repeats nothing personal.
package final class LifeLog: Sendable {
    /// What a line reports.
    package enum Kind: Int, Sendable, CaseIterable {
        /// A notification was applied.
        case applied
        /// A purchase took the place of a trial.
        case converted
        /// A trial has ended, and nothing was bought.
        case ended

        var message: Logger.Message {
            switch self {
            case .applied: "Applied a notification"
            case .converted: "Converted a trial"
            case .ended: "Ended a trial"
            }
        }
    }

    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let lines: Mutex<[TalliedLine]>

    /// A log.
    /// - Parameters:
    ///   - interval: the shortest time between two lines of a kind.
    ///   - now: the clock by which that is measured.
    package init(
        _ logger: Logger, every interval: Duration = .seconds(1),
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.logger = logger
        self.now = now
        lines = Mutex(Array(repeating: TalliedLine(every: interval), count: Kind.allCases.count))
    }

    /// Counts what happened so many times, and writes a line if one is due.
    /// - Parameter describe: makes the metadata of a line about one of them; called only if a line is written.
    package func note(_ kind: Kind, times: Int, _ describe: () -> Logger.Metadata) {
        guard times > 0, logger.logLevel <= .info,
            let count = lines.withLock({ $0[kind.rawValue].count(times, at: now()) })
        else { return }
        var metadata = describe()
        if count > 1 { metadata["count"] = "\(count)" }
        logger.info(kind.message, metadata: metadata)
    }

    /// Writes what the events of a committed transaction report of trials.
    package func note(_ events: EventCounts) {
        for (end, trials) in events.trials {
            note(end == .converted ? .converted : .ended, times: trials.count) { Self.metadata(of: trials.last) }
        }
    }

    private static func metadata(of draft: EventDraft) -> Logger.Metadata {
        guard case .account(let value, let previous) = draft.subject else { return [:] }
        var metadata = value.logMetadata(of: draft.account)
        metadata["environment"] = "\(draft.environment)"
        metadata["status_before"] = previous.map { "\($0.status.rawValue)" }
        metadata["tier_before"] = previous.map { "\($0.tier)" }
        metadata["reason"] = "\(draft.cause.name)"
        if metadata["original_transaction_id"] == nil {
            metadata["original_transaction_id"] = (previous?.purchase).map { "\($0.originalTransactionID)" }
        }
        return metadata
    }
}

extension AccountPhase {
    /// What lines say of an account: its appAccountToken, tier, status, when access ends, and the purchase that decides.
    package func logMetadata(of token: UniqueIdentifier?) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["tier": "\(tier)", "status": "\(status.rawValue)"]
        metadata["app_account_token"] = token.map { "\($0)" }
        metadata["ends"] = expiresAt.map { "\($0)" }
        metadata["original_transaction_id"] = purchase.map { "\($0.originalTransactionID)" }
        return metadata
    }
}
