import Base
import FigureStore
import Figures
import OrderSupport
import Postgres

/// What customers paid, a second way: by all amounts of each of them, and by all days that are so many months later.
extension RecurringModel {
    private struct Amount {
        var day: Int64
        var currency: String
        var value: Int64
    }

    /// Lifetime value by month, as ``FigureAnswer/lines`` has it. All that is looked at has been.
    func values(_ site: OrderDatabase) async throws -> [String] {
        var amounts: [Scope: [Amount]] = [:]
        for row in try await site.pool.query(
            """
            select o.order_key, t.product_id, coalesce(t.currency, '') as currency, m.at, coalesce(m.amount, 0) as amount
              from storehook.booked_transactions t join storehook.booked_orders o on o.id = t.order_id
             cross join lateral (
                select t.starts_at as at, t.price as amount
                union all
                select r.at, case r.type when 'refund' then -r.amount else r.amount end
                  from storehook.booked_refunds r where (r.order_id, r.item) = (t.order_id, t.item) and r.type <> 'revoke') m
             where o.class_id is not null and not t.is_void and t.price is distinct from 0 and o.plan_type = 'auto_renewable'
            """)
        {
            let scope = scope(of: try row.decode("order_key"), try row.decode("product_id"))
            amounts[scope, default: []].append(
                Amount(
                    day: Timestamp(try row.decode("at", as: PostgresTimestamp.self)).day,
                    currency: try row.decode("currency"), value: try row.decode("amount")))
        }
        let months = Set((span.lowerBound.number...span.upperBound.number).map { FigureMonth(CalendarDay(number: $0)) })
        return months.sorted { $0.days.lowerBound < $1.days.lowerBound }.flatMap { month -> [String] in
            let customers = starts(in: month).compactMap { start in
                start.periods.first.map { (day: start.day, amounts: amounts[$0.scope] ?? []) }
            }
            let counted = customers.map { customer in
                customer.amounts.filter {
                    customer.day <= $0.day && $0.day <= Self.day(36, after: customer.day)
                }
            }
            return Set(counted.joined().map(\.currency)).sorted().map { currency in
                let totals = (0...36).map { months in
                    zip(customers, counted).reduce(Int64(0)) { sum, customer in
                        customer.1.reduce(sum) { sum, amount in
                            let isIn =
                                amount.currency == currency
                                && amount.day <= Self.day(months, after: customer.0.day)
                            return isIn ? sum + amount.value : sum
                        }
                    }
                }
                let shares = totals.map { Self.halfEven($0, by: Int64(customers.count)) }
                let words = ([Int64(customers.count)] + shares + totals).map { "\($0)" }.joined(separator: " ")
                return "\(month.days.lowerBound) \(currency.isEmpty ? "none" : currency) \(words)"
            }
        }
    }

    /// By the doubled distance to both whole numbers around the quotient.
    private static func halfEven(_ dividend: Int64, by divisor: Int64) -> Int64 {
        let lower = dividend >= 0 ? dividend / divisor : -((-dividend + divisor - 1) / divisor)
        let twice = 2 * (dividend - lower * divisor)
        if twice == divisor { return lower.isMultiple(of: 2) ? lower : lower + 1 }
        return twice < divisor ? lower : lower + 1
    }

    /// Accounts and their first payments by month, as ``FigureAnswer/lines`` has them, in plain SQL.
    static func firstPayments(_ site: OrderDatabase, _ days: ClosedRange<CalendarDay>) async throws -> [String] {
        try await site.texts(
            """
            with payments as (
                select l.token, min(t.starts_at) as at
                  from storehook.account_lines l
                  join storehook.booked_orders o
                    on l.original_transaction_id = coalesce(o.original_transaction_id, o.order_key) and l.bundle_id = o.bundle_id
                   and l.environment = o.environment
                  join storehook.booked_transactions t on t.order_id = o.id
                 where o.class_id is not null and l.environment = 'Production' and not t.is_void and not t.is_trial and t.price is distinct from 0
                   and (select count(*) from storehook.account_lines w where w.original_transaction_id = l.original_transaction_id) = 1
                 group by l.token
            ), people as (
                select least(a.known_at, p.at) as known, p.at as paid
                  from storehook.accounts a left join payments p using (token) where a.erased_at is null
            ), counted as (
                select m.first::date::text as month,
                       (select count(*) from people where paid >= m.first and paid < m.next) as paid,
                       (select count(*) from people where known < m.next and coalesce(paid >= m.first, true)) as accounts,
                       (select count(*) from people where known >= m.first and known < m.next) as known
                  from (select d at time zone 'UTC' as first, (d + interval '1 month') at time zone 'UTC' as next
                          from generate_series(date_trunc('month', \(days.lowerBound.description)::text::timestamp),
                                               \(days.upperBound.description)::text::timestamp, interval '1 month') d) m
                 where m.first <= now()
            )
            select concat_ws(' ', month, coalesce(round(100000 * paid::numeric / nullif(accounts, 0))::text, '-'), paid, accounts, known)
              from counted where (paid, accounts, known) <> (0, 0, 0) order by month
            """)
    }
}
