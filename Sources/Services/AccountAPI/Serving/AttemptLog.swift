package import AccountStore
import Base
import Logging
import Synchronization

/// What apps report of attempts to buy and to restore: one line a second at most, however many reports come, with how many there were
/// since the line before. It is about the latest.
///
/// No line has the app's reason, and none has a text in the place of an id that is not made as one: an app may write anything there.
package final class AttemptLog: Sendable {
    private let log: AccountLog
    private let line = Mutex(TalliedLine(every: .seconds(1)))
    private let clock: @Sendable () -> ContinuousClock.Instant

    /// A log.
    package init(_ log: AccountLog, clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.log = log
        self.clock = clock
    }

    /// Writes a line, unless one was written less than a second ago: then the next line counts this report, too.
    package func note(_ attempt: PurchaseAttempt, by caller: Caller) {
        let now = clock()
        guard let count = line.withLock({ $0.count(at: now) }) else { return }
        var metadata: Logger.Metadata = [
            "kind": "\(attempt.kind.rawValue)", "outcome": "\(attempt.outcome.rawValue)", "count": "\(count)",
        ]
        metadata["product"] = attempt.productID.flatMap { Self.isProductID($0) ? "\($0)" : nil }
        metadata["transaction_id"] = attempt.transactionID.flatMap { Self.isTransactionID($0) ? "\($0)" : nil }
        metadata["environment"] = attempt.environment.map { "\($0.rawValue)" }
        log.note("An app has reported an attempt to buy or to restore", of: caller, metadata)
    }

    /// Whether a text is made as ids of products are; App Store Connect takes 100 characters.
    private static func isProductID(_ text: String) -> Bool {
        text.utf8.count <= 100 && PurchaseAttempt.isPlain(text)
    }

    /// Whether a text is made as Apple's ids of transactions are.
    private static func isTransactionID(_ text: String) -> Bool {
        (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
