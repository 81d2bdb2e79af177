/// The reason why a request for a refund is not made, or not decided.
public enum RefundRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// What a caller can do about it.
    public enum Kind: Sendable, Hashable {
        /// There is no such thing, or none that the caller may see.
        case unknown
        /// Something else was done before.
        case conflict
        /// It can never be done like this.
        case unfit
    }

    /// No order has this number.
    case noOrder
    /// No request has this number.
    case noRequest
    /// The order has no such transaction.
    case noTransaction
    /// Another customer paid for it.
    case shared
    /// No money was paid.
    case free
    /// No signed record says the price.
    case unpriced
    /// It was charged ahead and never began: its money is counted nowhere.
    case neverBegan
    /// Apple refunded a part and does not say how much.
    case unknownRefund
    /// All of it is refunded.
    case nothingLeft
    /// More than is left of the transaction.
    case tooMuch(left: Int64)
    /// An amount of nothing, or less.
    case notPositive
    /// A partial refund without an amount.
    case noAmount
    /// An amount of a full or a prorated refund.
    case fixedAmount(RefundRequest.Kind)
    /// It has no period that a share of could be left.
    case noTerm
    /// Nothing of its period is left.
    case periodOver
    /// Recorded as made in the future.
    case future
    /// Another request about the same transaction is open.
    case openRequest(RefundNumber?)
    /// The request is in a state that rules it out.
    case state(RefundRequest.State, by: String?)

    /// What a caller can do about it.
    public var kind: Kind {
        switch self {
        case .noOrder, .noRequest, .noTransaction: .unknown
        case .openRequest, .state: .conflict
        default: .unfit
        }
    }

    /// A name that callers can go by; it never changes.
    public var code: String {
        switch self {
        case .noOrder: "order_not_found"
        case .noRequest: "refund_request_not_found"
        case .noTransaction: "transaction_not_found"
        case .shared: "order_shared"
        case .free: "transaction_free"
        case .unpriced: "transaction_unpriced"
        case .neverBegan: "transaction_never_began"
        case .unknownRefund: "refunded_amount_unknown"
        case .nothingLeft: "nothing_refundable"
        case .tooMuch: "amount_too_large"
        case .notPositive, .noAmount, .fixedAmount: "amount_invalid"
        case .noTerm: "not_prorated"
        case .periodOver: "period_over"
        case .future: "instant_in_future"
        case .openRequest: "refund_request_open"
        case .state: "refund_request_state"
        }
    }

    /// One line: what is wrong, and what to do.
    public var description: String {
        switch self {
        case .noOrder: "there is no such order: storehook orders list"
        case .noRequest: "there is no such refund request: storehook refunds list"
        case .noTransaction: "the order has no such transaction: storehook orders show lists them"
        case .shared: "another customer paid for it: only that one can have the money back"
        case .free: "no money was paid for it, so there is none to refund; name a paid one with --transaction"
        case .unpriced: "no signed record says its price, so no amount is known: storehook apple transaction asks Apple"
        case .neverBegan: "it was charged ahead and replaced before it began: name the transaction that replaced it"
        case .unknownRefund:
            "Apple refunded a part of it and does not say how much, so what is left is not known: leave it to Apple"
        case .nothingLeft: "all of it is refunded already"
        case .tooMuch(let left): "at most \(left) is left of this transaction (in thousandths of its currency)"
        case .notPositive: "the amount is in thousandths of the currency, 1 or more"
        case .noAmount: "a partial refund needs its amount"
        case .fixedAmount(.full): "a full refund has no amount of its own: ask for a partial one"
        case .fixedAmount: "a prorated refund is what time is left at its approval: ask for a partial one"
        case .noTerm: "it has no period to prorate: ask for a full or a partial refund"
        case .periodOver: "nothing of its period is left to prorate: ask for a partial refund"
        case .future: "a refund that was made lies in the past: give the instant at which it was made"
        case .openRequest(let number):
            "\(number.map { "\($0)" } ?? "another request") about this transaction is open: decide that one first"
        case .state(let state, let decider): Self.text(state, decider)
        }
    }

    private static func text(_ state: RefundRequest.State, _ decider: String?) -> String {
        let by = decider.map { " by \($0)" } ?? ""
        switch state {
        case .pending: return "it is pending: approve it first"
        case .approved:
            return "it is approved\(by): it ends when Apple refunds, or with the record of a refund made elsewhere"
        case .cancelled where decider == RefundRequest.apple:
            return "Apple has refunded meanwhile, which cancelled it: make another request for what is left"
        case .rejected, .cancelled: return "it is \(state.rawValue)\(by): make another request"
        case .processed: return "it is processed: make another request for what is left"
        }
    }
}
