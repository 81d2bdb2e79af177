import Base
import Figures
import Postgres

/// What customers paid for subscriptions, by the number of months after their first payment, in SQL.
enum ValueRows {
    /// A query: sales, refunds and reversals, with the columns of `source` and those of ``FigureMeasure/rows(of:retainedAfter:page:)``.
    /// - Parameters:
    ///   - source: a FROM clause with the alias `s`.
    ///   - sale: a condition of the wanted sales `t`.
    ///   - refund: a condition of the wanted refunds and reversals `r`.
    private static func money(from source: String, sale: String, refund: String) -> String {
        """
        select s.*, 'sale' as measure, t.starts_at as at, t.order_id, t.item, 0 as place, t.product_id, t.storefront, t.currency,
               t.price as amount, t.starts_at as sold_at, t.transaction_id
          from \(source) join storehook.booked_transactions t on \(sale)
         where not t.is_void and t.price is distinct from 0
        union all
        select s.*, case r.type when 'refund' then 'refund' else 'reversal' end, r.at, r.order_id, r.item, r.place + 1, t.product_id,
               t.storefront, t.currency, r.amount, t.starts_at, t.transaction_id
          from \(source) join storehook.booked_refunds r on \(refund) and r.type in ('refund', 'refund_reversed')
          join storehook.booked_transactions t on (t.order_id, t.item) = (r.order_id, r.item)
         where not t.is_void and t.price is distinct from 0
        """
    }

    /// A query: as `day`, the first day of a payer's customer as in ``FigureMeasure/customerNew``: the first day at whose end it paid. No row
    /// where there is none.
    ///
    /// A price of one unit or more always has a price a month. So the first payment is never later than the first such price, and no later
    /// period is read.
    /// - Parameter payer: the alias of a row with `zone`, `environment`, `bundle_id`, `order_key`, `order_id` and `group_id`.
    private static func cohort(of payer: String) -> String {
        """
        select p.day
          from (select array(select f.id
                               from (\(RecurringPeriods.account(of: payer))) a
                              cross join lateral (\(RecurringPeriods.family(of: payer, account: "a"))) f) as ids offset 0) f
         cross join lateral (
            select coalesce(min(t.starts_at) + interval '26 hours', 'infinity') as reach
              from unnest(f.ids) i (id)
              join storehook.booked_orders o on o.id = i.id and o.class_id is not null and o.plan_type = 'auto_renewable'
              join storehook.booked_transactions t on t.order_id = i.id
              left join storehook.figure_plans p on (p.bundle_id, p.product_id) = (o.bundle_id, t.product_id)
             where not t.is_void and not t.is_trial and t.price between 1000 and \(RecurringPeriods.mostPrice) and t.currency is not null
               and t.starts_at < coalesce(t.counts_until, t.ends_at) and coalesce(p.group_id, '') = \(payer).group_id offset 0) u
         cross join lateral (
            select p.starts_at, p.ends_at, (min(p.starts_at) over () at time zone \(payer).zone)::date as day
              from unnest(f.ids) i (id)
             cross join lateral (\(RecurringPeriods.sql { order, start, _ in
                 "\(order) = i.id and \(start) < least(u.reach, \(RecurringPeriods.turned))"
             })) p
             where p.monthly is not null and p.group_id = \(payer).group_id) p
         cross join lateral (select least(\(DayStart.sql("p.day + 1", in: "\(payer).zone")), \(RecurringPeriods.turned)) as cut) c
         where p.starts_at < c.cut and p.ends_at >= c.cut
         limit 1
        """
    }

    /// An expression: the least number of months, as in ``Cohort``, for which `day` is not later than the day so many months after `cohort`.
    private static func months(from cohort: String, to day: String) -> String {
        let whole = """
            (extract(year from \(day))::integer - extract(year from \(cohort))::integer) * 12
            + extract(month from \(day))::integer - extract(month from \(cohort))::integer
            """
        return """
            \(whole) + case when \(day) > (\(cohort) + make_interval(months => \(whole)))::date then 1 else 0 end
            """
    }

    /// The cells of some days, of all environments and apps, with the columns of the table `value_cells` but the zone.
    static func derived(_ days: [CalendarDay], in zone: String) -> PostgresQuery {
        let money = money(
            from: "span s", sale: "t.starts_at >= s.starts and t.starts_at < s.ends",
            refund: "r.at >= s.starts and r.at < s.ends")
        return PostgresQuery(
            "figures.derived_values",
            """
            with span as materialized (
                \(eachOf: days, in: zone)
            ), money as materialized (
                select m.zone, m.day, m.order_id, m.currency, (m.sold_at at time zone m.zone)::date as rate_day,
                       case m.measure when 'refund' then -m.amount else m.amount end as unit, o.environment, o.bundle_id, o.order_key,
                       coalesce(p.group_id, '') as group_id
                  from (\(unescaped: money)) m
                 cross join lateral (
                    select o.environment, o.bundle_id, o.order_key from storehook.booked_orders o
                     where o.id = m.order_id and o.class_id is not null and o.plan_type = 'auto_renewable' offset 0) o
                  left join storehook.figure_plans p on (p.bundle_id, p.product_id) = (o.bundle_id, m.product_id)
            ), cohorts as materialized (
                select s.order_id, s.group_id, c.day
                  from (select distinct zone, order_id, environment, bundle_id, order_key, group_id from money) s
                 cross join lateral (\(unescaped: cohort(of: "s"))) c
            )
            select m.day, m.environment, m.bundle_id, m.cohort, m.months::smallint as months, m.currency, m.rate_day, m.unit, count(*) as count
              from (
                select m.day, m.environment, m.bundle_id, c.day as cohort, \(unescaped: months(from: "c.day", to: "m.day")) as months,
                       coalesce(m.currency, '') as currency, m.rate_day, m.unit
                  from money m join cohorts c on (c.order_id, c.group_id) = (m.order_id, m.group_id) and m.day >= c.day) m
             where m.months <= \(unescaped: "\(Cohort.months.upperBound)")
             group by m.day, m.environment, m.bundle_id, m.cohort, m.months, m.currency, m.rate_day, m.unit
            """)
    }

    /// A query: the payments of the days `z.first` to `z.last`, behind a mark, by customers of the days `z.cohort_first` to `z.cohort_last`, until
    /// so many months after their first payment. Columns as in ``FigureMeasure/rows(of:retainedAfter:page:)``, with those of the order.
    ///
    /// The customer of each payment is looked up in the order of rows: a page looks up no more than it needs.
    static func rows(through months: Int?) -> String {
        let money = money(
            from: "(select zone, greatest(starts, since) as since, ends from z) s",
            sale: "t.starts_at >= s.since and t.starts_at < s.ends", refund: "r.at >= s.since and r.at < s.ends")
        return """
            select r.measure, r.at, r.order_id, r.item, r.place, r.product_id, r.storefront, r.currency, r.amount, r.sold_at,
                   r.transaction_id, r.environment, r.bundle_id, r.day, r.number
              from (
                select r.*, z.cohort_first, z.cohort_last from (
                    select m.*, o.environment, o.bundle_id, o.day, o.number, o.order_key, coalesce(p.group_id, '') as group_id
                      from (\(money)) m
                     cross join lateral (
                        select o.environment, o.bundle_id, o.day, o.number, o.order_key from storehook.booked_orders o
                         where o.id = m.order_id and o.class_id is not null and o.plan_type = 'auto_renewable' offset 0) o
                      left join storehook.figure_plans p on (p.bundle_id, p.product_id) = (o.bundle_id, m.product_id)) r
                 cross join z
                 where \(FigureRowPage.condition("r"))
                 order by \(FigureRowPage.order("r")) offset 0) r
             cross join lateral (\(cohort(of: "r"))) c
             where c.day between r.cohort_first and r.cohort_last
               and (r.at at time zone r.zone)::date
                   between c.day and (c.day + make_interval(months => \(months ?? Cohort.months.upperBound)))::date
            """
    }
}
