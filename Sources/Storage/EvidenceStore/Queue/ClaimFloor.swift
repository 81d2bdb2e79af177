package import Postgres

/// Where a worker's next claim begins to look.
///
/// A claim walks the queue's index from the earliest due time on. While any transaction pins the vacuum horizon,
/// all rows settled since stay in that index as dead entries, and a claim from the beginning reads all of them to
/// find the first live row: the queue gets slower with each settled notification. So a worker begins where its last
/// claim found something.
///
/// A row may still turn up below: one stored by a transaction that began early and committed late, or one whose claim
/// was rolled back. ``slack`` covers the usual delay, and every ``sweepInterval`` a claim looks at everything.
package struct ClaimFloor: Sendable {
    /// How far below the last find the next claim begins: longer than storing takes.
    static let slack: Duration = .seconds(1)
    /// The time between two claims that look at everything.
    static let sweepInterval: Duration = .seconds(10)

    private var floor: PostgresTimestamp?
    private var sweptAt: ContinuousClock.Instant?

    /// A floor that lets the first claim look at everything.
    package init() {}

    /// Where the next claim is to begin; nil: look at everything.
    package mutating func next(now: ContinuousClock.Instant = .now) -> PostgresTimestamp? {
        if let sweptAt, now - sweptAt < Self.sweepInterval { return floor }
        sweptAt = now
        return nil
    }

    /// Learns from a claim's result: no remaining row is due before the claim's first row or, where it found none,
    /// before the claim itself.
    package mutating func learn(from batch: ClaimedBatch<some Sendable>) {
        if let end = batch.oldestDueAt ?? batch.claimedAt { learn(end) }
    }

    /// Learns from a look at the queue that claimed nothing: no row is due before this.
    package mutating func learn(_ end: PostgresTimestamp) { floor = end.adding(.zero - Self.slack) }
}
