import Base
package import Postgres
import PurchaseStore
package import Subscriptions

extension RefundRequests {
    /// Updates requests by Apple's refunds and reversals of purchases, after these were booked, in the same transaction.
    /// - Parameters:
    ///   - purchases: the purchases; they are locked.
    ///   - clock: the present instant.
    package static func follow(
        _ purchases: [PurchaseKey], at clock: PostgresTimestamp, _ session: borrowing PostgresSession
    ) throws {
        let now = Timestamp(clock)
        for row in try session.query(.requests(of: purchases)) {
            guard let transaction = try RefundableTransaction.read(row) else { continue }
            let before = try RefundRequest(row)
            var request = before
            request.follow(transaction, at: now)
            guard request != before else { continue }
            try session.query(.followed(request, RefundNumber(try row.decode("id"))))
        }
    }
}

extension PostgresQuery {
    fileprivate static func requests(of purchases: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "refunds.of_purchases",
            """
            select \(unescaped: RefundRequest.columns), \(unescaped: RefundableTransaction.columns)
              from unnest(
                   \(purchases.map(\.environment)), \(purchases.map(\.bundleID)),
                   \(purchases.map(\.originalTransactionID)))
                   as p (environment, bundle_id, original_transaction_id)
              join storehook.staff_refund_requests r using (environment, bundle_id, original_transaction_id)
              join storehook.booked_orders o on o.id = r.order_id
              join storehook.booked_transactions t on (t.order_id, t.item) = (r.order_id, r.item)
             order by r.id
               for update of r
            """
        ).keepingPlan()
    }

    /// Writes what Apple did; acts of staff are ``decided(_:_:_:at:)``.
    fileprivate static func followed(_ request: RefundRequest, _ number: RefundNumber) -> PostgresQuery {
        PostgresQuery(
            "refunds.follow",
            """
            update storehook.staff_refund_requests
               set state = \(request.state.rawValue), decider = \(request.decider),
                   decided_at = \(request.decidedAt.map(PostgresTimestamp.init)),
                   share_before = \(Int32(clamping: request.before.share)), refunded_before = \(request.before.refunded),
                   refunded_before_at = \(request.before.at.map(PostgresTimestamp.init)),
                   apple_share = \(request.refundedByApple?.share.map(Int32.init(clamping:))),
                   apple_amount = \(request.refundedByApple?.amount),
                   apple_at = \(request.refundedByApple.map { PostgresTimestamp($0.at) }),
                   reversed_at = \(request.reversedAt.map(PostgresTimestamp.init)),
                   processed_at = \(request.processedAt.map(PostgresTimestamp.init))
             where id = \(number.value)
            """)
    }
}
