package import Postgres

/// What one round of maintenance did.
package struct MaintenanceReport: Sendable, Hashable {
    /// What became of a day that is older than the retention.
    package enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// The bytes of its settled notifications are gone.
        case dropped
        /// Nothing went: what is there is still to do, or too much of it is.
        case stays
        /// Another session was at it.
        case busy
        /// Somebody was reading the outbox for longer than receivers may be kept waiting.
        case postponed
        /// It could not be dropped for a reason that is among the ``MaintenanceReport/failures``.
        case failed
    }

    /// One day that is older than the retention.
    package struct Day: Sendable, Hashable {
        /// The day in UTC, `YYYY-MM-DD`.
        package var day: String
        /// What became of it.
        package var outcome: Outcome
        /// Notifications whose bytes went.
        package var gone: Int64
        /// Notifications whose bytes stay, because something is still to do about them.
        package var kept: Int64

        init(_ day: String, _ outcome: Outcome, gone: Int64 = 0, kept: Int64 = 0) {
            self.day = day
            self.outcome = outcome
            self.gone = gone
            self.kept = kept
        }
    }

    /// A step that could not be done, while the others were.
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
    /// Days older than the retention of which something was there, the oldest first.
    package var days: [Day] = []
    /// Letters that were given up because they did not verify.
    package var expired: Int64 = 0
    /// Days that are over and were counted, or counted further, for the books.
    package var settled = 0
    /// What could not be done, in the order of the steps.
    package var failures: [Failure] = []

    /// Nothing done yet.
    package init() {}
}
