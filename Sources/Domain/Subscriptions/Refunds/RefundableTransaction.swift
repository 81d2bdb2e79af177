public import Base

/// A transaction of the books, as far as refund requests need it.
public struct RefundableTransaction: Sendable, Hashable {
    /// How its order is paid.
    public var plan: BookedOrder.Plan
    /// In thousandths of the currency; nil where no record says it.
    public var price: Int64?
    /// How much is refunded now, in thousandths of a percent; nil where Apple refunded a part and does not say how much.
    public var share: Int64?
    /// The same in thousandths of the currency; nil where it is not known.
    public var refunded: Int64?
    /// When the refund that stands was made; nil where none stands.
    public var refundedAt: Timestamp?
    /// When Apple signed the latest reversal of a refund; nil where there was none.
    public var reversedAt: Timestamp?
    /// Its first instant.
    public var startsAt: Timestamp
    /// The end of what was paid for; nil where it has none.
    public var endsAt: Timestamp?
    /// Whether it was charged ahead and never began.
    public var isVoid: Bool

    /// Memberwise; not refunded by default.
    public init(
        plan: BookedOrder.Plan, price: Int64?, share: Int64? = 0, refunded: Int64? = 0, refundedAt: Timestamp? = nil,
        reversedAt: Timestamp? = nil, startsAt: Timestamp, endsAt: Timestamp? = nil, isVoid: Bool = false
    ) {
        self.plan = plan
        self.price = price
        self.share = share
        self.refunded = refunded
        self.refundedAt = refundedAt
        self.reversedAt = reversedAt
        self.startsAt = startsAt
        self.endsAt = endsAt
        self.isVoid = isVoid
    }

    /// What can still be refunded: the price less what is refunded, in thousandths of the currency; 0 where nothing is left.
    /// - Throws: where there is no such amount.
    public func maxRefundable() throws(RefundRefusal) -> Int64 {
        guard !isVoid else { throw .neverBegan }
        guard let price else { throw .unpriced }
        guard price > 0 else { throw .free }
        guard let refunded, share != nil else { throw .unknownRefund }
        return max(0, price - refunded)
    }

    /// The part of ``maxRefundable()`` for the time that is left at an instant, rounded half up.
    /// - Throws: where there is no period, or nothing of it is left.
    public func prorated(at instant: Timestamp) throws(RefundRefusal) -> Int64 {
        let left = try maxRefundable()
        guard plan == .autoRenewable || plan == .nonRenewing, let endsAt, endsAt > startsAt else { throw .noTerm }
        let length = UInt64(endsAt.milliseconds(since: startsAt))
        let time = UInt64(max(0, endsAt.milliseconds(since: max(instant, startsAt))))
        // (left × time × 2 + length) ÷ (length × 2), without a product that could overflow.
        let whole = UInt64(left).multipliedFullWidth(by: time)
        guard whole.high < length else { return left }
        let (amount, rest) = length.dividingFullWidth(whole)
        let rounded = Int64(amount) + (rest >= length - rest ? 1 : 0)
        guard rounded > 0 else { throw left == 0 ? .nothingLeft : .periodOver }
        return rounded
    }
}
