import Base
import OrderStore
import Subscriptions

extension AdminShapes {
    /// A request for a refund.
    static let refund = Shape<ShownRefund, Void>(
        "RefundRequest",
        [
            .init("number") { $0.recorded.number.description },
            .init("order", "Its order's number; null for the second until it is dealt.") { $0.recorded.order },
            .init("orderKey") { $0.recorded.orderKey }, .init("transactionId") { $0.recorded.transactionID },
            .init("productId") { $0.recorded.productID },
            .init("environment", Environment.schema) { .string($0.recorded.environment) },
            .init("bundleId") { $0.recorded.bundleID }, .init("type", kinds) { .string($0.request.kind.rawValue) },
            .init("state", states) { .string($0.request.state.rawValue) },
            .init("notRefundedByApple", "Whether it was approved 30 days ago, and Apple has not refunded.") {
                $0.recorded.isNotRefunded
            },
            .init("currency") { $0.recorded.currency },
            .init("price", "Of the transaction, in thousandths of the currency like all amounts.") {
                $0.recorded.price
            },
            .init("requested") { $0.request.requested }, .init("approved") { $0.request.approved },
            .init("maxRefundable", "What is left of the transaction now; null where that is not known.") {
                $0.recorded.maxRefundable
            },
            .init("createdAt") { $0.request.createdAt },
            .init("requester", "staff: and a member's number, or cli: and a name.") { $0.recorded.requester },
            .init("reason", "Shortened by default.") { $0.text($0.recorded.reason) },
            .init("decidedAt") { $0.request.decidedAt },
            .init("decider", "The actor of the decision; apple where Apple refunded first.") { $0.request.decider },
            .init("note", "Shortened by default.") { $0.text($0.recorded.note) },
            .init("textErasedAt", "When an erasure took the reason and the note.") { $0.recorded.textErasedAt },
            .init("refundedByApple", "Null also where Apple does not say how much.") {
                $0.request.refundedByApple?.amount
            },
            .init("refundedByAppleAt") { $0.request.refundedByApple?.at },
            .init("difference", "What Apple refunded more or less than what was approved.") {
                $0.request.difference
            },
            .init("reversedAt", "When Apple took its refund back.") { $0.request.reversedAt },
            .init("reference", "Of a refund that was made elsewhere.") { $0.request.elsewhere?.reference },
            .init("refundedElsewhere") { $0.request.elsewhere?.amount },
            .init("refundedElsewhereAt") { $0.request.elsewhere?.at },
            .init("processedAt") { $0.request.processedAt },
            .init(
                "dueAt",
                "Of a pending one, where Apple has asked about the transaction: until when a decision goes into the answer, two hours before Apple's deadline. Of an approved one: when it counts as not refunded by Apple, 30 days after the approval."
            ) { $0.recorded.dueAt },
            .init(
                "waitingSeconds", "How long a pending one has waited for a decision, and an approved one for Apple."
            ) {
                $0.recorded.waitingSeconds
            },
        ])

    /// One that was decided.
    static let decidedRefund = refund.after([], named: "DecidedRefundRequest") { (decided: DecidedRefund) in
        decided.shown
    }
    .changed(
        named: "DecidedRefundRequest",
        adding: [
            .init(
                "answeredBeforeAt",
                "When Apple was sent consumption data about the transaction before: the decision changes nothing of that."
            ) { $0.answeredBeforeAt }
        ])

    /// The types of requests.
    static let kinds = ValueSchema.choice(RefundRequest.Kind.allCases.map(\.rawValue))
    /// What becomes of a request.
    static let states = ValueSchema.choice(RefundRequest.State.allCases.map(\.rawValue))
}
