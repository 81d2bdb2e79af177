import Accounts
import Base
import Postgres
import Subscriptions

extension RefundDecision {
    /// Reads the columns of a request of Apple's; nil where no request says anything.
    init?(_ row: PostgresRow) throws {
        guard let id = try row.decode("refund_id", as: Int64?.self) else { return nil }
        var request = RefundRequest(
            kind: try row.decode("refund_kind", among: RefundRequest.Kind.self), requested: 0,
            before: RefundRequest.Before(refunded: try row.decode("refunded_before")), createdAt: .distantPast)
        request.state = try row.decode("refund_state", among: RefundRequest.State.self)
        request.isWhole = try row.decode("refund_is_whole")
        request.approved = try row.decode("refund_approved")
        if try row.decode("is_refunded_elsewhere", as: Bool.self) {
            request.elsewhere = .init(reference: "", amount: 0, at: .distantPast)
        }
        self.init(RefundNumber(id), request, price: try row.decode("refund_price"))
    }
}
