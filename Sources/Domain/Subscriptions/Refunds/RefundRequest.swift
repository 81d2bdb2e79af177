public import Base

/// A request of the staff's for a refund of one transaction: a value, which changes by what staff decide and by what Apple does.
///
///     pending ──approve──▶ approved ──Apple refunds, or one made elsewhere is recorded──▶ processed
///        │ └─reject──▶ rejected
///        ├─cancel──▶ cancelled
///        └─Apple refunds──▶ cancelled, by Apple
///
/// Only Apple moves money: none of this does.
public struct RefundRequest: Sendable, Hashable {
    /// The kind of a refund.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The whole rest of the transaction.
        case full
        /// An amount.
        case partial
        /// The share of the period that is left at the approval.
        case prorated
    }

    /// How far it has come.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Waits for a decision. Can transition to: approved, rejected, cancelled.
        case pending
        /// To be refunded. Can transition to: processed.
        case approved
        /// Not to be refunded.
        case rejected
        /// Taken back by staff, or overtaken by Apple.
        case cancelled
        /// Refunded, by Apple or elsewhere.
        case processed

        /// Whether another request about the same transaction has to wait.
        public var isOpen: Bool { self == .pending || self == .approved }
    }

    /// What was refunded without the request.
    public struct Before: Sendable, Hashable {
        /// In thousandths of a percent.
        public var share: Int64
        /// In thousandths of the currency.
        public var refunded: Int64
        /// When that refund was made; nil where there was none.
        public var at: Timestamp?

        /// Memberwise.
        public init(share: Int64 = 0, refunded: Int64 = 0, at: Timestamp? = nil) {
            self.share = share
            self.refunded = refunded
            self.at = at
        }
    }

    /// What Apple refunded after the request was made.
    public struct AppleRefund: Sendable, Hashable {
        /// In thousandths of the currency; nil where Apple does not say how much.
        public var amount: Int64?
        /// How much of the transaction was refunded then in all, in thousandths of a percent; nil where Apple does not say.
        public var share: Int64?
        /// The revocationDate.
        public var at: Timestamp

        /// Memberwise.
        public init(amount: Int64?, share: Int64?, at: Timestamp) {
            self.amount = amount
            self.share = share
            self.at = at
        }
    }

    /// A refund that staff made elsewhere.
    public struct ElsewhereRefund: Sendable, Hashable {
        /// What it is called there.
        public var reference: String
        /// In thousandths of the currency.
        public var amount: Int64
        /// When it was made.
        public var at: Timestamp

        /// Memberwise.
        public init(reference: String, amount: Int64, at: Timestamp) {
            self.reference = reference
            self.amount = amount
            self.at = at
        }
    }

    /// The decider where Apple was faster than the staff.
    public static let apple = "apple"
    /// After how many days an approved request is listed as one that Apple did not refund.
    public static let patienceDays: Int64 = 30

    /// The kind of refund.
    public var kind: Kind
    /// How far it has come.
    public var state = State.pending
    /// In thousandths of the currency; of a prorated one, the amount at the time of the request.
    public var requested: Int64
    /// In thousandths of the currency; nil where it was not approved.
    public var approved: Int64?
    /// Whether ``approved`` was all that was left.
    public var isWhole = false
    /// What was refunded when it was made; less where Apple has reversed that since.
    public var before: Before
    /// When it was made.
    public var createdAt: Timestamp
    /// The actor that approved, rejected or cancelled it: ``apple``, or a member of the staff.
    public var decider: String?
    /// When that was decided.
    public var decidedAt: Timestamp?
    /// What Apple refunded since it was made.
    public var refundedByApple: AppleRefund?
    /// When Apple took that back.
    public var reversedAt: Timestamp?
    /// What was refunded elsewhere.
    public var elsewhere: ElsewhereRefund?
    /// When it became processed.
    public var processedAt: Timestamp?

    /// Memberwise, of a request as it is stored.
    public init(kind: Kind, requested: Int64, before: Before, createdAt: Timestamp) {
        self.kind = kind
        self.requested = requested
        self.before = before
        self.createdAt = createdAt
    }

    /// A new request.
    /// - Parameter amount: the amount of a partial one, in thousandths of the currency.
    /// - Throws: where such a request is not possible.
    public init(_ kind: Kind, amount: Int64?, of transaction: RefundableTransaction, at now: Timestamp)
        throws(RefundRefusal)
    {
        let left = try Self.left(of: transaction)
        let before = Before(
            share: transaction.share ?? 0, refunded: transaction.refunded ?? 0, at: transaction.refundedAt)
        let requested = try Self.amount(kind, amount, amount, left, transaction, now)
        self.init(kind: kind, requested: requested, before: before, createdAt: now)
    }

    /// By how much Apple's refund differs from what was approved; nil where either is not known.
    public var difference: Int64? {
        guard let approved, let amount = refundedByApple?.amount else { return nil }
        return amount - approved
    }

    /// Whether it was approved so long ago that Apple will hardly refund it.
    public func isNotRefunded(at now: Timestamp) -> Bool {
        guard state == .approved, let decidedAt else { return false }
        return decidedAt.adding(days: Self.patienceDays) <= now
    }

    private static func left(of transaction: RefundableTransaction) throws(RefundRefusal) -> Int64 {
        let left = try transaction.maxRefundable()
        guard left > 0 else { throw .nothingLeft }
        return left
    }

    /// - Parameters:
    ///   - given: the amount that a person gave.
    ///   - amount: the given amount, or the requested one.
    private static func amount(
        _ kind: Kind, _ given: Int64?, _ amount: Int64?, _ left: Int64, _ transaction: RefundableTransaction,
        _ now: Timestamp
    ) throws(RefundRefusal) -> Int64 {
        switch kind {
        case .full:
            guard given == nil else { throw .fixedAmount(.full) }
            return left
        case .prorated:
            guard given == nil else { throw .fixedAmount(.prorated) }
            return try transaction.prorated(at: now)
        case .partial:
            guard let amount else { throw .noAmount }
            return try checked(amount, left)
        }
    }

    private static func checked(_ amount: Int64, _ left: Int64) throws(RefundRefusal) -> Int64 {
        guard amount > 0 else { throw .notPositive }
        guard amount <= left else { throw .tooMuch(left: left) }
        return amount
    }

    private func require(_ wanted: State) throws(RefundRefusal) {
        guard state == wanted else { throw .state(state, by: decider) }
    }

    /// Approves it.
    /// - Parameter amount: another amount than the requested one, in thousandths of the currency. The share of a prorated one is computed now.
    public mutating func approve(
        amount: Int64?, of transaction: RefundableTransaction, by person: String, at now: Timestamp
    ) throws(RefundRefusal) {
        try require(.pending)
        let left = try Self.left(of: transaction)
        // Less than all may be approved of a full one.
        let approved =
            if kind == .full, let amount { try Self.checked(amount, left) } else {
                try Self.amount(kind, amount, amount ?? requested, left, transaction, now)
            }
        (state, self.approved, isWhole, decider, decidedAt) = (.approved, approved, approved == left, person, now)
    }

    /// Rejects it.
    public mutating func reject(by person: String, at now: Timestamp) throws(RefundRefusal) {
        try require(.pending)
        (state, decider, decidedAt) = (.rejected, person, now)
    }

    /// Takes it back.
    public mutating func cancel(by person: String, at now: Timestamp) throws(RefundRefusal) {
        try require(.pending)
        (state, decider, decidedAt) = (.cancelled, person, now)
    }

    /// Records that what was approved was refunded elsewhere.
    public mutating func record(
        _ refund: ElsewhereRefund, of transaction: RefundableTransaction, at now: Timestamp
    ) throws(RefundRefusal) {
        try require(.approved)
        _ = try Self.checked(refund.amount, try Self.left(of: transaction))
        guard refund.at <= now else { throw .future }
        (state, elsewhere, processedAt) = (.processed, refund, now)
    }

    /// Follows what Apple did about the transaction since.
    public mutating func follow(_ transaction: RefundableTransaction, at now: Timestamp) {
        guard let noted = refundedByApple else {
            guard let rise = rise(of: transaction) else { return sink(to: transaction) }
            refundedByApple = rise
            switch state {
            case .pending: (state, decider, decidedAt) = (.cancelled, Self.apple, now)
            case .approved: (state, processedAt) = (.processed, now)
            case .rejected, .cancelled, .processed: break
            }
            return
        }
        if transaction.refundedAt == nil || (transaction.share ?? .max) < (noted.share ?? 0) {
            reversedAt = reversedAt ?? transaction.reversedAt ?? now
        } else if noted.share == nil, transaction.refundedAt == noted.at, let share = transaction.share {
            // A part that was not stated is stated now.
            let amount = transaction.refunded.map { max(0, $0 - before.refunded) }
            refundedByApple = AppleRefund(amount: amount, share: share, at: noted.at)
        }
    }

    /// What Apple refunded beyond what was refunded before; nil for nothing.
    private func rise(of transaction: RefundableTransaction) -> AppleRefund? {
        guard let refundedAt = transaction.refundedAt else { return nil }
        guard let share = transaction.share else { return AppleRefund(amount: nil, share: nil, at: refundedAt) }
        if share > before.share {
            return AppleRefund(
                amount: transaction.refunded.map { max(0, $0 - before.refunded) }, share: share, at: refundedAt)
        }
        // What was refunded before was reversed, and less was refunded then, both at once.
        guard share > 0, refundedAt > createdAt, refundedAt != before.at else { return nil }
        return AppleRefund(amount: transaction.refunded, share: share, at: refundedAt)
    }

    /// A refund from before that Apple has reversed: another one of the same height is a rise then.
    private mutating func sink(to transaction: RefundableTransaction) {
        guard let share = transaction.share, let refunded = transaction.refunded, share < before.share else { return }
        before = Before(share: share, refunded: refunded, at: transaction.refundedAt)
    }
}
