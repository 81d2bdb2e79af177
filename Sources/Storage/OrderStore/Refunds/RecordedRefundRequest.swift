import Base
package import Postgres
package import Subscriptions

/// A stored request for a refund, with the rest of its transaction's amount.
package struct RecordedRefundRequest: Sendable, Hashable {
    /// `RF-001`.
    package var number: RefundNumber
    /// The app's environment.
    package var environment: String
    /// The app.
    package var bundleID: String
    /// The order's number; nil before the order has one.
    package var order: String?
    /// The order without a number: Apple's id.
    package var orderKey: String
    /// Apple's id of the transaction.
    package var transactionID: String
    /// What was bought.
    package var productID: String?
    /// ISO 4217; nil where no record states it.
    package var currency: String?
    /// What was paid, in thousandths of the currency.
    package var price: Int64
    /// The request and its decision.
    package var request: RefundRequest
    /// The member of the staff, or the person, that made it.
    package var requester: String
    /// Why; nil where the account was erased.
    package var reason: String?
    /// What was written with the decision.
    package var note: String?
    /// When the texts were taken out.
    package var textErasedAt: PostgresTimestamp?
    /// The amount that is not refunded now, in thousandths of the currency; nil where it is not known.
    package var maxRefundable: Int64?
    /// Whether it was approved 30 days ago, and Apple has not refunded.
    package var isNotRefunded: Bool

    /// A row of ``columns``.
    init(_ row: PostgresRow, at now: Timestamp) throws {
        number = RefundNumber(try row.decode("id"))
        environment = try row.decode("environment")
        bundleID = try row.decode("bundle_id")
        order = try row.decode("order_number")
        orderKey = try row.decode("order_key")
        transactionID = try row.decode("transaction_id")
        productID = try row.decode("product_id")
        currency = try row.decode("currency")
        price = try row.decode("price")
        request = try RefundRequest(row)
        requester = try row.decode("requester")
        reason = try row.decode("reason")
        note = try row.decode("note")
        textErasedAt = try row.decode("erased_at")
        maxRefundable = try RefundableTransaction.read(row).flatMap { try? $0.maxRefundable() }
        isNotRefunded = request.isNotRefunded(at: now)
    }

    static let columns = """
        \(RefundRequest.columns), r.environment, r.bundle_id, r.transaction_id, r.currency, r.price, r.requester,
        storehook.order_number(o.day, o.number) as order_number, o.order_key, x.reason, x.note, x.erased_at,
        \(RefundableTransaction.columns)
        """
    static let tables = """
        storehook.staff_refund_requests r
          join storehook.booked_orders o on o.id = r.order_id
          left join storehook.booked_transactions t on (t.order_id, t.item) = (r.order_id, r.item)
          left join storehook.refund_request_texts x on x.id = r.id
        """
}

extension RefundRequest {
    /// Of `storehook.staff_refund_requests r`.
    static let columns = """
        r.id, r.kind, r.state, r.requested, r.approved, r.is_whole, r.share_before, r.refunded_before,
        r.refunded_before_at, r.created_at, r.decider, r.decided_at, r.apple_share, r.apple_amount, r.apple_at,
        r.reversed_at, r.reference, r.elsewhere_amount, r.elsewhere_at, r.processed_at
        """

    /// A row of ``columns``.
    init(_ row: PostgresRow) throws {
        func instant(_ column: String) throws -> Timestamp? {
            try row.decode(column, as: PostgresTimestamp?.self).map { Timestamp($0) }
        }
        self.init(
            kind: try row.decode("kind", among: Kind.self), requested: try row.decode("requested"),
            before: Before(
                share: Int64(try row.decode("share_before", as: Int32.self)),
                refunded: try row.decode("refunded_before"), at: try instant("refunded_before_at")),
            createdAt: Timestamp(try row.decode("created_at", as: PostgresTimestamp.self)))
        state = try row.decode("state", among: State.self)
        approved = try row.decode("approved")
        isWhole = try row.decode("is_whole")
        decider = try row.decode("decider")
        decidedAt = try instant("decided_at")
        if let at = try instant("apple_at") {
            refundedByApple = AppleRefund(
                amount: try row.decode("apple_amount"),
                share: try row.decode("apple_share", as: Int32?.self).map(Int64.init), at: at)
        }
        reversedAt = try instant("reversed_at")
        if let reference = try row.decode("reference", as: String?.self), let at = try instant("elsewhere_at") {
            elsewhere = ElsewhereRefund(
                reference: reference, amount: try row.decode("elsewhere_amount"), at: at)
        }
        processedAt = try instant("processed_at")
    }
}

extension RefundableTransaction {
    /// Of `storehook.booked_transactions t` and its order `o`.
    static let columns = """
        o.plan_type, t.item is not null as is_booked, t.product_id, t.price as paid, t.revoked_share, t.refunded,
        t.refunded_at, t.starts_at, t.ends_at, t.is_void,
        (select b.at from storehook.booked_refunds b
          where b.order_id = t.order_id and b.item = t.item and b.type = 'refund_reversed'
          order by b.place desc limit 1) as taken_back_at
        """

    /// A row of ``columns``; nil where the order no longer has the transaction, because another customer paid for it.
    static func read(_ row: PostgresRow) throws -> RefundableTransaction? {
        guard try row.decode("is_booked", as: Bool.self) else { return nil }
        func instant(_ column: String) throws -> Timestamp? {
            try row.decode(column, as: PostgresTimestamp?.self).map { Timestamp($0) }
        }
        return RefundableTransaction(
            plan: try row.decode("plan_type", among: BookedOrder.Plan.self), price: try row.decode("paid"),
            share: try row.decode("revoked_share", as: Int32?.self).map(Int64.init),
            refunded: try row.decode("refunded"), refundedAt: try instant("refunded_at"),
            reversedAt: try instant("taken_back_at"),
            startsAt: Timestamp(try row.decode("starts_at", as: PostgresTimestamp.self)),
            endsAt: try instant("ends_at"), isVoid: try row.decode("is_void"))
    }
}
