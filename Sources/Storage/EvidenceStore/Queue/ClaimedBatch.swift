package import Foundation
package import Postgres

/// The result of one claim.
package struct ClaimedBatch<Content: Sendable>: Sendable {
    /// The lease's token, which settling must name.
    package var token: UUID
    /// Until when the lease lasts at least: see ``Lease/end``.
    package var leaseEnd: ContinuousClock.Instant
    /// When it was claimed, by the database's clock; nil if the database was not asked.
    package var claimedAt: PostgresTimestamp?
    /// When the row that had waited longest fell due; nil if there was none.
    package var oldestDueAt: PostgresTimestamp?
    /// The rows, by id.
    package var rows: [ClaimedRow<Content>]

    /// Whether the previous lease ran out unsettled. Then it is one row, which may have killed its worker, and the
    /// worker processes it alone.
    package var isSuspect: Bool { rows.contains(where: \.lapsed) }
}
