package import Postgres

/// How long a row waits after a transient failure, and when it is enough.
package struct RetryPolicy: Sendable, Hashable {
    /// Claims until a row is given up.
    package var maximumAttempts: Int
    /// How long it waits after each of them.
    package var backoff: Backoff

    /// A policy; unless told otherwise 12 attempts that span about an hour.
    package init(
        maximumAttempts: Int = 12, backoff: Backoff = Backoff(base: .seconds(1), cap: .seconds(900))
    ) {
        self.maximumAttempts = maximumAttempts
        self.backoff = backoff
    }

    /// Why a claimed row has to be given up unopened, since opening it may be what ended the attempts before; nil where it
    /// is to be worked.
    package func exhaustion(of row: ClaimedRow<some Sendable>) -> Exhaustion? {
        guard row.attempts > maximumAttempts else { return nil }
        return Exhaustion(cause: row.lapsed ? .workerGone : .putOff(row.lastReason), attempts: row.attempts - 1)
    }
}
