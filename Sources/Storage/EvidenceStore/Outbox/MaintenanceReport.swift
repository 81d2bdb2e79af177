package import Postgres

/// What one round of maintenance did.
package struct MaintenanceReport: Sendable, Hashable {
    /// The outcome for a day that is older than the retention.
    package enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// The bytes of its settled notifications are gone.
        case dropped
        /// Nothing was dropped: all of it, or too much of it, is still to be processed.
        case stays
        /// Another session was processing it.
        case busy
        /// A session was reading the outbox for longer than receivers may be kept waiting.
        case postponed
        /// It could not be dropped for a reason listed in ``MaintenanceReport/failures``.
        case failed
    }

    /// One day that is older than the retention.
    package struct Day: Sendable, Hashable {
        /// The day in UTC, `YYYY-MM-DD`.
        package var day: String
        /// The outcome.
        package var outcome: Outcome
        /// How many notifications lost their bytes.
        package var gone: Int64
        /// How many notifications keep their bytes, because they are still to be processed.
        package var kept: Int64

        init(_ day: String, _ outcome: Outcome, gone: Int64 = 0, kept: Int64 = 0) {
            self.day = day
            self.outcome = outcome
            self.gone = gone
            self.kept = kept
        }
    }

    /// A step that failed while the others were done.
    package struct Failure: Sendable, Hashable {
        /// Which step: `the letters that did not verify`, `the day 2026-01-31`.
        package var step: String
        /// Why.
        package var error: PostgresError

        /// A step that failed so.
        package init(step: String, error: PostgresError) {
            self.step = step
            self.error = error
        }
    }

    /// Partitions made ahead.
    package var made = 0
    /// Days older than the retention that still had bytes, the oldest first.
    package var days: [Day] = []
    /// How many letters were discarded because they did not verify.
    package var expired: Int64 = 0
    /// How many past days were counted, or counted further, for conservation.
    package var settled = 0
    /// The failed steps, in order.
    package var failures: [Failure] = []

    /// Nothing done yet.
    package init() {}
}
