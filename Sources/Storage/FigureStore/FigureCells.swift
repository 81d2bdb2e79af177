import Base
import Postgres

/// The cells of days, worked out from the books.
enum FigureCells {
    /// Parts of a WITH: the cells of some days from the books, of all environments and apps. Cells and cohorts come from one reading of the
    /// movements of recurring revenue.
    ///
    /// - `derived`, the cells: `day`, `measure`, `environment`, `bundle_id`, `product_id`, `storefront`, `currency`, `rate_day`, `unit`, `count`;
    /// - `derived_cohorts`, with the columns of ``CohortRows/counts``.
    ///
    /// Three kinds of rows count nowhere: a transaction that never begins, a refund of one, and a refund of something free.
    static func parts(_ days: [CalendarDay], in zone: String) -> PostgresQuery {
        PostgresQuery(
            "figures.derived",
            """
            span as materialized (
                \(eachOf: days, in: zone)
            ), \(unescaped: RecurringChanges.parts), \(unescaped: CohortRows.parts), \(unescaped: AccountRows.parts), rows as (
                select s.day, m.measure, t.order_id, t.product_id, t.storefront, t.currency, s.day as rate_day, m.unit
                  from span s
                  join storehook.booked_transactions t on t.starts_at >= s.starts and t.starts_at < s.ends and not t.is_void
                 cross join lateral (
                    select 'sale' as measure, t.price as unit
                    union all
                    select 'refunded_sale', t.refunded
                     where t.revoked_share is distinct from 0 and t.price is distinct from 0) m
                union all
                select s.day, 'late_sale', t.order_id, t.product_id, t.storefront, t.currency,
                       (t.starts_at at time zone s.zone)::date, t.price
                  from span s
                  join storehook.booked_transactions t on t.heard_at >= s.starts and t.heard_at < s.ends and not t.is_void
                 where \(unescaped: DayStart.isLate("t.heard_at", "t.starts_at", in: "s.zone"))
                union all
                select s.day, case r.type when 'refund' then 'refund' else 'reversal' end, r.order_id, t.product_id, t.storefront,
                       t.currency, (t.starts_at at time zone s.zone)::date, r.amount
                  from span s
                  join storehook.booked_refunds r on r.at >= s.starts and r.at < s.ends and r.type in ('refund', 'refund_reversed')
                  join storehook.booked_transactions t on (t.order_id, t.item) = (r.order_id, r.item) and not t.is_void
                 where t.price is distinct from 0
                union all
                select s.day, case r.type when 'refund' then 'late_refund' else 'late_reversal' end, r.order_id, t.product_id,
                       t.storefront, t.currency, (t.starts_at at time zone s.zone)::date, r.amount
                  from span s
                  join storehook.booked_refunds r on r.heard_at >= s.starts and r.heard_at < s.ends
                   and r.type in ('refund', 'refund_reversed')
                  join storehook.booked_transactions t on (t.order_id, t.item) = (r.order_id, r.item) and not t.is_void
                 where t.price is distinct from 0 and \(unescaped: DayStart.isLate("r.heard_at", "r.at", in: "s.zone"))
                union all
                select r.day, r.measure, r.order_id, case when c.is_one then r.product_id end, case when c.is_one then r.storefront end,
                       case when c.is_one then r.currency end,
                       case when r.amount is not null then (r.sold_at at time zone (select zone from span limit 1))::date end, r.amount
                  from recurring_rows r
                 -- A customer may have several products, and counts for none of them.
                 cross join lateral (select r.measure not like 'customer%' as is_one) c
                union all
                select r.day, r.measure, r.order_id, r.product_id, r.storefront, r.currency, null, null
                  from (\(unescaped: TrialRows.sql(from: "span s", columns: "s.day, "))) r
                union all
                select r.day, r.measure, r.order_id, r.product_id, r.storefront, r.currency, null, null
                  from (\(unescaped: AttemptRows.sql(from: "span s", columns: "s.day, "))) r
                union all
                select r.day, r.measure, r.order_id, r.product_id, r.storefront, r.currency,
                       (r.sold_at at time zone (select zone from span limit 1))::date, r.amount
                  from (\(unescaped: ProceedsRows.sql(from: "span s", isByDay: true))) r
            ), derived as materialized (
                select r.day, r.measure, o.environment, o.bundle_id, coalesce(r.product_id, '') as product_id,
                       coalesce(r.storefront, '') as storefront, coalesce(r.currency, '') as currency, r.rate_day, r.unit, count(*) as count
                  from rows r
                 cross join lateral (
                    select o.environment, o.bundle_id from storehook.booked_orders o
                     where o.id = r.order_id and o.class_id is not null offset 0) o
                 group by r.day, r.measure, o.environment, o.bundle_id, r.product_id, r.storefront, r.currency, r.rate_day, r.unit
                union all
                select o.day, 'order', c.environment, c.bundle_id, c.product_id, c.storefront, c.currency, null, null, count(*)
                  from span s
                 cross join lateral (
                    select o.day, o.class_id from storehook.booked_orders o
                     where o.day = s.day and o.class_id is not null and o.plan_type <> 'unknown' offset 0) o
                  join storehook.order_classes c on c.id = o.class_id
                 group by o.day, c.environment, c.bundle_id, c.product_id, c.storefront, c.currency
                union all
                select r.day, r.measure, r.environment, r.bundle_id, coalesce(r.product_id, ''), '', '', null, null, count(*)
                  from (\(unescaped: RestoreRows.sql(from: "span s", columns: "s.day, "))) r
                 group by r.day, r.measure, r.environment, r.bundle_id, r.product_id
                union all
                select r.day, r.measure, r.environment, r.bundle_id, coalesce(r.product_id, ''), '', '', null, null, count(*)
                  from (\(unescaped: OwnTrialRows.sql(from: "span s", columns: "s.day, "))) r
                 group by r.day, r.measure, r.environment, r.bundle_id, r.product_id
                union all
                select day, measure, environment, '', '', '', '', known_on, null, sum(count)::bigint
                  from account_rows group by day, measure, environment, known_on
            ), derived_cohorts as materialized (
                \(unescaped: CohortRows.counts)
            )
            """)
    }
}
