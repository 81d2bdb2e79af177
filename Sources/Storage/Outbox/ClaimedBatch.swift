public import Foundation
public import Postgres

/// What one claim brought.
public struct ClaimedBatch: Sendable, Hashable {
    /// The lease's token, which settling must name.
    public var token: UUID
    /// When it was claimed, by the database's clock; nil if nothing was asked.
    public var claimedAt: PostgresTimestamp?
    /// When the row that had waited longest fell due; nil if there was none.
    public var oldestDueAt: PostgresTimestamp?
    /// The rows, in the order of storing.
    public var rows: [ClaimedNotification]

    /// Whether the lease before ran out unsettled: then it is one row, which may be what killed its worker, and it is to be
    /// worked with nothing else in hand.
    public var isSuspect: Bool { rows.contains(where: \.lapsed) }
}
