package import Base

/// How often a row is claimed, and how long it waits after a transient failure.
package struct ClaimPolicy: Sendable, Hashable {
    /// How long a row waits after each claim that failed, and after how many it is given up.
    package var schedule: RetrySchedule
    /// After how many claims with a vanished worker a row is given up: it must not go on killing workers for a night.
    package var maximumLapses: Int

    /// A policy. By default 12 attempts, which span 14 hours at least and 28 at most: a repair by people, of an OCSP
    /// responder of Apple's or of a deployment, may wait for the next morning. At most 12 workers are killed.
    ///
    /// - Parameters:
    ///   - first: the longest wait after the first attempt; each later one is four times as long. At least half of each is
    ///     waited.
    ///   - longest: the longest wait between two attempts.
    package init(
        maximumAttempts: Int = 12, maximumLapses: Int = 12, from first: Duration = .seconds(1),
        upTo longest: Duration = .seconds(27_000)
    ) {
        schedule = .growing(
            by: 4, from: first, upTo: longest, attempts: maximumAttempts, jitter: RetrySchedule.halfJitter)
        self.maximumLapses = min(maximumLapses, maximumAttempts)
    }

    /// Why a claimed row must be given up unread, since reading it may be what ended the attempts before; nil where it
    /// is to be processed.
    package func exhaustion(of row: ClaimedRow<some Sendable>) -> Exhaustion? {
        let attempts = row.attempts - 1
        if row.lapsed, row.lapses >= maximumLapses { return Exhaustion(cause: .workerGone, attempts: attempts) }
        guard row.attempts > schedule.attempts else { return nil }
        return Exhaustion(cause: row.lapsed ? .workerGone : .putOff(row.lastReason), attempts: attempts)
    }
}
