import Accounts
package import Base
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
    /// Until when something is to be done, where that is known. Of a pending one: until when a decision goes into the answer to Apple, which
    /// has asked about the transaction. Of an approved one: when it counts as not refunded by Apple.
    package var dueAt: Timestamp?
    /// For how many seconds it has waited: a pending one for a decision, an approved one for a refund by Apple; nil of others.
    package var waitingSeconds: Int64?

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
        dueAt = try row.decode("due_at", as: PostgresTimestamp?.self).map { Timestamp($0) }
        waitingSeconds = request.secondsWaited(at: now)
    }

    /// A row of ``columns`` and ``heard`` as it stood at an instant; nil before the request was made. What was left of the transaction then is
    /// not known.
    init?(_ row: PostgresRow, then instant: Timestamp) throws {
        try self.init(row, at: instant)
        let then = request.standing(
            at: instant, appleHeardAt: try row.instant("apple_heard_at"),
            reversalHeardAt: try row.instant("reversal_heard_at"))
        guard let then else { return nil }
        request = then
        // It was written with the decision.
        if then.decidedAt == nil { note = nil }
        maxRefundable = nil
        isNotRefunded = then.isNotRefunded(at: instant)
        waitingSeconds = then.secondsWaited(at: instant)
    }

    /// When what Apple did was heard of, by the books. A reversal that they do not have was noted when it was found.
    static let heard = """
        (select b.heard_at from storehook.booked_refunds b
          where b.order_id = r.order_id and b.item = r.item and b.type = 'refund' and b.at = r.apple_at
          order by b.place limit 1) as apple_heard_at,
        coalesce((select b.heard_at from storehook.booked_refunds b
                   where b.order_id = r.order_id and b.item = r.item and b.type = 'refund_reversed' and b.at = r.reversed_at
                   order by b.place limit 1), r.reversed_at) as reversal_heard_at
        """

    static let columns = """
        \(RefundRequest.columns), r.environment, r.bundle_id, r.transaction_id, r.currency, r.price, r.requester,
        storehook.order_number(o.day, o.number) as order_number, o.order_key, x.reason, x.note, x.erased_at, due.due_at,
        \(RefundableTransaction.columns)
        """
    /// How long before Apple is answered by the policy alone a pending one is due, in seconds.
    fileprivate static let patience = Int64(RefundDecision.patience / .seconds(1))
}

extension PostgresQuery.StringInterpolation {
    /// What stands beside a request `r`: its order, transaction and texts; how it stood, `s.state`, as `RefundRequest.standing` has it; and
    /// until when it was due, `due.due_at`.
    /// - Parameter instant: how it stood then, `s.at`; nil for now, which is at `infinity`.
    mutating func appendInterpolation(besideRequestAt instant: PostgresTimestamp?) {
        appendLiteral(
            """
              join storehook.booked_orders o on o.id = r.order_id
              left join storehook.booked_transactions t on (t.order_id, t.item) = (r.order_id, r.item)
              left join storehook.refund_request_texts x on x.id = r.id
             cross join lateral (
                   select z.at, case when z.at = 'infinity' then r.state
                                     when r.processed_at <= z.at then 'processed'
                                     when r.decided_at <= z.at
                                     then case r.state when 'processed' then 'approved' else r.state end
                                     else 'pending' end as state
                     from (select coalesce(
            """)
        appendInterpolation(instant)
        appendLiteral(
            """
            ::timestamptz, 'infinity') as at) z) s
             cross join lateral (
                   select case s.state
                          when 'pending' then (
                               select min(c.deadline) - make_interval(secs => \(RecordedRefundRequest.patience))
                                 from storehook.consumption_requests c
                                where c.original_transaction_id = r.original_transaction_id and c.bundle_id = r.bundle_id
                                  and c.environment = r.environment and c.transaction_id = r.transaction_id
                                  and (c.settled_at is null or c.settled_at > s.at) and c.deadline > least(s.at, now())
                                  and (s.at = 'infinity'
                                       or (select n.received_at from storehook.notifications n
                                            where n.notification_uuid = c.notification_uuid) <= s.at))
                          when 'approved' then r.decided_at + make_interval(days => \(RefundRequest.patienceDays))
                          end as due_at offset 0) due
            """)
    }
}

extension RefundRequest {
    /// For how many seconds it had waited: a pending one for a decision, an approved one for a refund by Apple; nil of others.
    fileprivate func secondsWaited(at now: Timestamp) -> Int64? {
        let since: Timestamp? =
            switch state {
            case .pending: createdAt
            case .approved: decidedAt
            case .rejected, .cancelled, .processed: nil
            }
        return since.map { max(0, now.millisecondsSince1970 - $0.millisecondsSince1970) / 1000 }
    }

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
