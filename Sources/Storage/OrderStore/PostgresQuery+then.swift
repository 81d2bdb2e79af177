import Postgres

extension PostgresQuery.StringInterpolation {
    /// A subquery: the transactions of an order. Of an instant of the past, those that had been heard of, with what had been heard of their
    /// refunds; beside the columns of `booked_transactions` that are read here, it has `has_begun` and `changed_at` of then.
    ///
    /// Where nothing was heard of its refunds since, a transaction stands as it is stored. Else the rows of its refunds say how much was refunded
    /// then: the last of them that had been heard of, and what all of them come to.
    /// - Parameters:
    ///   - order: an expression of the order's number.
    ///   - instant: nil for now.
    mutating func appendInterpolation(transactionsOf order: String, by instant: PostgresTimestamp?) {
        guard let instant else {
            return appendLiteral("(select * from storehook.booked_transactions t where t.order_id = \(order))")
        }
        appendLiteral(
            """
            (select t.order_id, t.item, t.transaction_id, t.product_id, t.starts_at, t.ends_at, t.price, t.currency, t.storefront,
                    t.is_void, t.starts_at <= z.at and not t.is_void as has_begun, greatest(t.heard_at, f.heard_at) as changed_at,
                    case when not f.is_later then t.revoked_share
                         when f.is_none then 0
                         when not f.is_unknown and f.net >= t.price then 100000
                         when not f.is_unknown and t.price > 0 then floor(f.net::numeric * 100000 / t.price)::integer end as revoked_share,
                    case when not f.is_later then t.refunded
                         when f.is_none then 0
                         when not f.is_unknown then least(f.net, t.price) end as refunded,
                    case when not f.is_later then t.refunded_at
                         when not f.is_none and t.price is distinct from 0 then f.refunded_at end as refunded_at
               from (select 
            """)
        appendInterpolation(instant)
        appendLiteral(
            """
            ::timestamptz as at) z
              cross join storehook.booked_transactions t
              cross join lateral (
                select coalesce(bool_or(r.heard_at > z.at), false) as is_later,
                       max(r.heard_at) filter (where r.heard_at <= z.at) as heard_at,
                       max(r.at) filter (where r.heard_at <= z.at and r.type = 'refund') as refunded_at,
                       coalesce(bool_or(r.amount is null and r.type <> 'revoke') filter (where r.heard_at <= z.at), false) as is_unknown,
                       s.net,
                       -- All of it was taken back, or it was ended without money.
                       s.last is null or s.last = 'revoke' or s.last = 'refund_reversed' and (s.last_amount is null or s.net <= 0) as is_none
                  from (select coalesce(sum(case r.type when 'refund' then r.amount when 'refund_reversed' then -r.amount end), 0)::bigint
                                   as net,
                               (array_agg(r.type order by r.place desc))[1] as last,
                               (array_agg(r.amount order by r.place desc))[1] as last_amount
                          from storehook.booked_refunds r
                         where r.order_id = t.order_id and r.item = t.item and r.heard_at <= z.at) s
                  left join storehook.booked_refunds r on r.order_id = t.order_id and r.item = t.item
                 group by s.net, s.last, s.last_amount) f
              where t.order_id = \(order) and t.heard_at <= z.at)
            """)
    }

    /// A statement: the transaction that an order shows at an instant, as `BookedOrder.shown(at:)` has it.
    /// - Parameter order: an expression of the order's number.
    mutating func appendInterpolation(shownOf order: String, by instant: PostgresTimestamp) {
        appendLiteral("select t.* from ")
        appendInterpolation(transactionsOf: order, by: instant)
        appendLiteral(
            """
             t order by t.has_begun desc, case when t.has_begun then t.starts_at end desc, case when t.has_begun then t.ends_at end desc,
                       case when t.has_begun then t.transaction_id end desc, t.is_void, t.starts_at, t.item limit 1
            """)
    }
}
