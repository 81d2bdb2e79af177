import Base

/// The status of an order.
package enum OrderStatus: String, Sendable, Hashable, CaseIterable, JSONConvertible {
    /// An app reported that it was begun.
    case pending
    /// Apple recorded it; a free one, too.
    case completed
    /// An app reported that it failed.
    case failed
    /// An app reported that it was given up, or nothing came of it within seven days.
    case cancelled
    /// A refund stands, and not all money went back.
    case partiallyRefunded = "partially_refunded"
    /// All money went back.
    case refunded

    /// The statuses with a standing refund.
    static let withRefund: [OrderStatus] = [.partiallyRefunded, .refunded]
}
