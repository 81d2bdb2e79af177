import APIKit
import Base
import HTTPTypes
import Subscriptions

extension ProblemCode {
    /// The code of a refusal, which never changes.
    init(_ refusal: RefundRefusal) {
        switch refusal.kind {
        case .unknown: self.init(.notFound, refusal.code, "There is no such thing")
        case .conflict: self.init(.conflict, refusal.code, "Something else was done before")
        case .unfit: self.init(.unprocessableContent, refusal.code, "It cannot be refunded like this")
        }
    }

    /// There is no such order, or it is another app's.
    static let noOrder = ProblemCode(RefundRefusal.noOrder)
    /// There is no such request, or it is another app's.
    static let noRefundRequest = ProblemCode(RefundRefusal.noRequest)

    private static let unfit: [RefundRefusal] = [
        .shared, .free, .unpriced, .neverBegan, .unknownRefund, .nothingLeft, .tooMuch(left: 0), .notPositive,
    ]

    /// All that a new request may be refused by.
    static let newRefund = ([.noOrder, .noTransaction, .noTerm, .periodOver, .openRequest(nil)] + unfit)
        .map { ProblemCode($0) }
    /// All that a decision may be refused by.
    static let decidedRefund = ([.noRequest, .noTerm, .periodOver, .state(.pending, by: nil)] + unfit)
        .map { ProblemCode($0) }
    /// All that the record of a refund may be refused by.
    static let recordedRefund = decidedRefund + [ProblemCode(RefundRefusal.future)]
}

extension RefundRefusal {
    /// The problem that it is.
    var problem: APIProblem {
        var members: [JSONValue.Member] = []
        switch self {
        case .tooMuch(let left): members = [.init("maxRefundable", .integer(left))]
        case .openRequest(let number?): members = [.init("refundRequest", .string("\(number)"))]
        case .state(let state, by: _): members = [.init("state", .string(state.rawValue))]
        default: break
        }
        return APIProblem(ProblemCode(self), ProblemText(english: detail), members: members)
    }

    /// Without the commands, which are for people with a terminal.
    private var detail: String {
        switch self {
        case .noOrder: "no such order is known here"
        case .noRequest: "no such refund request is known here"
        case .noTransaction: "the order has no such transaction"
        case .free: "no money was paid for it, so there is none to refund: name a paid transaction"
        case .unpriced: "no signed record says its price, so no amount is known"
        default: "\(self)"
        }
    }
}
