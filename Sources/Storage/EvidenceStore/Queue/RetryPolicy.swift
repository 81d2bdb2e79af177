package import Postgres

/// How long a row waits after a transient failure, and when it is given up.
package struct RetryPolicy: Sendable, Hashable {
    /// After how many claims a row is given up.
    package var maximumAttempts: Int
    /// After how many claims with a vanished worker a row is given up: it must not go on killing workers for a night.
    package var maximumLapses: Int
    /// How long it waits after each claim: between half of the limit and the whole.
    package var backoff: Backoff

    /// A policy. By default 40 attempts, which span 14 hours at least and 28 at most: a repair by people, of an OCSP
    /// responder of Apple's or of a deployment, may wait for the next morning. At most 12 workers are killed.
    package init(
        maximumAttempts: Int = 40, maximumLapses: Int = 12,
        backoff: Backoff = Backoff(base: .seconds(1), cap: .seconds(3600))
    ) {
        self.maximumAttempts = maximumAttempts
        self.maximumLapses = min(maximumLapses, maximumAttempts)
        self.backoff = backoff
    }

    /// How long a row waits after so many claims. Never less than half of the limit, so that chance does not use the
    /// attempts up early; the other half is random, so that rows with one fault do not come back together.
    package func pause(afterAttempts attempts: Int) -> Duration {
        backoff.limit(afterFailures: attempts) * Double.random(in: 0.5..<1)
    }

    /// The shortest time for which a row is tried: all its pauses at their shortest.
    package var leastSpan: Duration {
        (1..<max(maximumAttempts, 1)).reduce(.zero) { $0 + backoff.limit(afterFailures: $1) / 2 }
    }

    /// Why a claimed row must be given up unread, since reading it may be what ended the attempts before; nil where it
    /// is to be processed.
    package func exhaustion(of row: ClaimedRow<some Sendable>) -> Exhaustion? {
        let attempts = row.attempts - 1
        if row.lapsed, row.lapses >= maximumLapses { return Exhaustion(cause: .workerGone, attempts: attempts) }
        guard row.attempts > maximumAttempts else { return nil }
        return Exhaustion(cause: row.lapsed ? .workerGone : .putOff(row.lastReason), attempts: attempts)
    }
}
