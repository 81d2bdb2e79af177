import Base
import Postgres
import Staff
import Subscriptions

extension PostgresQuery {
    static let currentCatalog = PostgresQuery(
        "refunds.catalog", "select current_version from storehook.catalog_state")

    static func order(_ number: (day: CalendarDay, place: Int32)) -> PostgresQuery {
        PostgresQuery(
            "refunds.order",
            """
            select o.id, o.bundle_id, o.class_id is null as is_hidden
              from storehook.booked_orders o
             where o.day = \(number.day.description)::date and o.number = \(number.place)
            """)
    }

    static func transaction(_ id: String, of order: Int64) -> PostgresQuery {
        PostgresQuery(
            "refunds.transaction",
            """
            select t.order_id, t.item, o.bundle_id
              from storehook.booked_transactions t join storehook.booked_orders o on o.id = t.order_id
             where t.order_id = \(order) and (t.transaction_id = \(id) or t.item = \(id))
             order by t.transaction_id = \(id) desc, t.starts_at desc, t.item limit 1
            """)
    }

    /// The latest transaction with money; without one, a transaction that explains why there is none.
    static func latestTransaction(of order: Int64) -> PostgresQuery {
        PostgresQuery(
            "refunds.latest",
            """
            select t.order_id, t.item, o.bundle_id
              from storehook.booked_transactions t join storehook.booked_orders o on o.id = t.order_id
             where t.order_id = \(order)
             order by (t.price > 0 and not t.is_void) is true desc, not t.is_void desc, t.price is null desc,
                      t.starts_at desc, t.item
             limit 1
            """)
    }

    /// Locks the transaction's row of the books. It is locked before a request: a transaction that books a refund updates it.
    static func refundable(_ place: RefundPlace) -> PostgresQuery {
        PostgresQuery(
            "refunds.refundable",
            """
            select \(unescaped: RefundableTransaction.columns), o.environment, o.bundle_id, o.original_transaction_id,
                   t.transaction_id, t.currency
              from storehook.booked_transactions t join storehook.booked_orders o on o.id = t.order_id
             where t.order_id = \(place.orderID) and t.item = \(place.item)
               for share of t
            """)
    }

    static func openRequest(_ place: RefundPlace) -> PostgresQuery {
        PostgresQuery(
            "refunds.open",
            """
            select r.id from storehook.staff_refund_requests r
             where r.order_id = \(place.orderID) and r.item = \(place.item) and r.state in ('pending', 'approved')
            """)
    }

    /// The text is written before the audit's trigger reads it, at the end of the statement.
    static func add(
        _ request: RefundRequest, _ place: RefundPlace, _ row: PostgresRow, _ why: String, _ actor: StaffActor
    ) throws -> PostgresQuery {
        let person = String(actor.name.prefix(200))
        let now = PostgresTimestamp(request.createdAt)
        return PostgresQuery(
            "refunds.add",
            """
            with added as (
                insert into storehook.staff_refund_requests
                       (environment, bundle_id, original_transaction_id, order_id, item, transaction_id, kind, currency,
                        price, requested, share_before, refunded_before, refunded_before_at, requester, created_at,
                        acted_by, acted_role, acted_at)
                values (\(try row.decode("environment", as: String.self)), \(place.bundleID),
                        \(try row.decode("original_transaction_id", as: String.self)), \(place.orderID), \(place.item),
                        \(try row.decode("transaction_id", as: String.self)), \(request.kind.rawValue),
                        \(try row.decode("currency", as: String?.self)), \(try row.decode("paid", as: Int64.self)),
                        \(request.requested), \(Int32(clamping: request.before.share)), \(request.before.refunded),
                        \(request.before.at.map(PostgresTimestamp.init)), \(person), \(now), \(person),
                        \(actor.role.rawValue), \(now))
                returning id
            )
            insert into storehook.refund_request_texts (id, reason)
            select id, \(String(why.prefix(1000))) from added
            returning id
            """)
    }

    static func place(of number: RefundNumber) -> PostgresQuery {
        PostgresQuery(
            "refunds.place",
            """
            select r.order_id, r.item, r.bundle_id, r.requester
              from storehook.staff_refund_requests r where r.id = \(number.value)
            """)
    }

    static func holding(_ number: RefundNumber) -> PostgresQuery {
        PostgresQuery(
            "refunds.hold",
            """
            select \(unescaped: RefundRequest.columns) from storehook.staff_refund_requests r
             where r.id = \(number.value) for update
            """)
    }

    static func note(_ note: String, _ number: RefundNumber) -> PostgresQuery {
        PostgresQuery(
            "refunds.note",
            """
            update storehook.refund_request_texts set note = \(String(note.prefix(1000)))
             where id = \(number.value) and erased_at is null
            """)
    }

    /// Writes an act of the staff.
    static func decided(
        _ request: RefundRequest, _ number: RefundNumber, _ actor: StaffActor, at now: Timestamp
    ) -> PostgresQuery {
        PostgresQuery(
            "refunds.decide",
            """
            update storehook.staff_refund_requests
               set state = \(request.state.rawValue), approved = \(request.approved), is_whole = \(request.isWhole),
                   decider = \(request.decider.map { String($0.prefix(200)) }),
                   decided_at = \(request.decidedAt.map(PostgresTimestamp.init)),
                   reference = \(request.elsewhere?.reference), elsewhere_amount = \(request.elsewhere?.amount),
                   elsewhere_at = \(request.elsewhere.map { PostgresTimestamp($0.at) }),
                   processed_at = \(request.processedAt.map(PostgresTimestamp.init)),
                   acted_by = \(String(actor.name.prefix(200))), acted_role = \(actor.role.rawValue),
                   acted_at = \(PostgresTimestamp(now))
             where id = \(number.value)
            """)
    }

    static func recorded(_ number: RefundNumber) -> PostgresQuery {
        PostgresQuery(
            "refunds.recorded",
            """
            select \(unescaped: RecordedRefundRequest.columns)
              from storehook.staff_refund_requests r \(besideRequestAt: nil)
             where r.id = \(number.value)
            """)
    }

    /// Apple's open requests for consumption data about the transaction become due now. A held one becomes due by itself.
    static func hasten(_ number: RefundNumber) -> PostgresQuery {
        PostgresQuery(
            "refunds.hasten",
            """
            with waiting as (
                select q.id
                  from storehook.staff_refund_requests r
                  join storehook.consumption_answers a
                       on a.transaction_id = r.transaction_id and a.bundle_id = r.bundle_id and a.environment = r.environment
                  join storehook.consumption_queue q on q.id = a.id
                 where r.id = \(number.value) and a.outcome is null and q.lease_token is null
                   for update of q skip locked
            )
            update storehook.consumption_queue q set due_at = now() from waiting where q.id = waiting.id
            """)
    }

    static func answered(_ number: RefundNumber) -> PostgresQuery {
        PostgresQuery(
            "refunds.answered",
            """
            select a.began_at
              from storehook.staff_refund_requests r
              join storehook.consumption_answers a
                   on a.transaction_id = r.transaction_id and a.bundle_id = r.bundle_id and a.environment = r.environment
             where r.id = \(number.value) and a.began_at is not null and a.outcome is distinct from 'refused'
             order by a.began_at limit 1
            """)
    }
}
