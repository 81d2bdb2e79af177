package import Foundation
package import Postgres

/// What one claim brought.
package struct ClaimedBatch<Content: Sendable>: Sendable {
    /// The lease's token, which settling must name.
    package var token: UUID
    /// Until when the lease lasts at least: see ``Lease/end``.
    package var leaseEnd: ContinuousClock.Instant
    /// When it was claimed, by the database's clock; nil if nothing was asked.
    package var claimedAt: PostgresTimestamp?
    /// When the row that had waited longest fell due; nil if there was none.
    package var oldestDueAt: PostgresTimestamp?
    /// The rows, by id.
    package var rows: [ClaimedRow<Content>]

    /// Whether the lease before ran out unsettled: then it is one row, which may be what killed its worker, and it is to be
    /// worked with nothing else in hand.
    package var isSuspect: Bool { rows.contains(where: \.lapsed) }
}
