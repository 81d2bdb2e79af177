package import Postgres

/// How long a row waits after a transient failure, and when it is enough.
package struct RetryPolicy: Sendable, Hashable {
    /// Claims until a row is given up.
    package var maximumAttempts: Int
    /// Claims whose worker vanished until a row is given up: what ends workers is not to do so for a night.
    package var maximumLapses: Int
    /// How long it waits after each of them: between half of its limit and the whole.
    package var backoff: Backoff

    /// A policy; unless told otherwise 40 attempts, which span 14 hours at least and 28 at most: whatever has to be mended
    /// by people, a responder of Apple's or a deployment, may wait for the next morning. Of workers 12 at most are ended.
    package init(
        maximumAttempts: Int = 40, maximumLapses: Int = 12,
        backoff: Backoff = Backoff(base: .seconds(1), cap: .seconds(3600))
    ) {
        self.maximumAttempts = maximumAttempts
        self.maximumLapses = min(maximumLapses, maximumAttempts)
        self.backoff = backoff
    }

    /// How long a row waits after so many claims. Never less than half of the limit, so that the attempts are not used up
    /// early by chance; the other half is drawn, so that rows that met the same fault do not come back together.
    package func pause(afterAttempts attempts: Int) -> Duration {
        backoff.limit(afterFailures: attempts) * Double.random(in: 0.5..<1)
    }

    /// The shortest time that a row is tried for: all its pauses at their shortest.
    package var leastSpan: Duration {
        (1..<max(maximumAttempts, 1)).reduce(.zero) { $0 + backoff.limit(afterFailures: $1) / 2 }
    }

    /// Why a claimed row has to be given up unopened, since opening it may be what ended the attempts before; nil where it
    /// is to be worked.
    package func exhaustion(of row: ClaimedRow<some Sendable>) -> Exhaustion? {
        let attempts = row.attempts - 1
        if row.lapsed, row.lapses >= maximumLapses { return Exhaustion(cause: .workerGone, attempts: attempts) }
        guard row.attempts > maximumAttempts else { return nil }
        return Exhaustion(cause: row.lapsed ? .workerGone : .putOff(row.lastReason), attempts: attempts)
    }
}
