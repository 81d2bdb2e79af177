import Figures

/// Changes of recurring revenue on days, in SQL.
enum RecurringChanges {
    /// Parts of a WITH, behind a part `span` of the days (`zone`, `day`, `starts`, `ends`).
    ///
    /// `recurring_rows` are the rows of ``FigureMeasure/enter``, ``FigureMeasure/leave``, ``FigureMeasure/movements`` and
    /// ``FigureMeasure/customers``: `day`, `measure`, `at`, `order_id`, `item`, `place`, `product_id`, `storefront`, `currency`, `sold_at`,
    /// `amount`, `transaction_id`.
    ///
    /// Nearly all customers renew at the same price. Their order then has an equal end and beginning, and nothing more is read. Of other customers,
    /// all purchases are read.
    static let parts = "\(spanPart), \(changes(of: "recurring_span s"))"

    /// A part of a WITH, behind the part `span`: `recurring_span`, its days until the instant until which figures count.
    static let spanPart = """
        recurring_span as materialized (
            select zone, day, starts, least(ends, \(RecurringPeriods.turned)) as cut from span
        )
        """

    /// Parts of a WITH: those of ``parts`` behind `recurring_span`.
    /// - Parameters:
    ///   - source: a FROM item with the alias `s` (`day`, `starts`, `cut`): the days.
    ///   - isByOrder: whether it has days of single orders, by their `id`. Only changes of these are then worked out.
    private static func changes(of source: String, isByOrder: Bool = false) -> String {
        let own = { (order: String) in isByOrder ? "\(order) = s.id and " : "" }
        return """
            recurring_events as materialized (
                select s.day, s.starts, s.cut, 'enter' as measure, 1 as sign, p.starts_at as at, p.*
                  from \(source)
                 cross join lateral (\(RecurringPeriods.sql { order, start, _ in
                     "\(own(order))\(start) >= s.starts and \(start) < s.cut"
                 })) p
                union all
                select s.day, s.starts, s.cut, 'leave', -1, p.ends_at, p.*
                  from \(source)
                 cross join lateral (\(RecurringPeriods.sql { order, _, end in
                     "\(own(order))\(end) >= s.starts and \(end) < s.cut"
                 })) p
            ), \(changesOfEvents)
            """
    }

    /// The parts behind `recurring_events`.
    private static let changesOfEvents = """
        loud as materialized (
            select day, starts, cut, environment, bundle_id, order_key, order_id
              from (
                select day, starts, cut, environment, bundle_id, order_key, order_id
                  from recurring_events where monthly is not null
                 group by day, starts, cut, environment, bundle_id, order_key, order_id, currency having sum(sign * monthly) <> 0) e
             group by day, starts, cut, environment, bundle_id, order_key, order_id
        ), families as materialized (
            select l.day, l.starts, l.cut, l.environment, l.bundle_id, coalesce(a.token::text, l.order_id::text) as customer, f.id,
                   bool_or(f.id = l.order_id) as is_loud
              from loud l
             cross join lateral (\(RecurringPeriods.account(of: "l"))) a
             cross join lateral (\(RecurringPeriods.family(of: "l", account: "a"))) f
             group by 1, 2, 3, 4, 5, 6, 7
        ), levels as materialized (
            select h.*, coalesce(sum(monthly) filter (where starts_at < starts and ends_at >= starts) over held, 0) as former,
                   coalesce(sum(monthly) filter (where ends_at >= cut) over held, 0) as latter,
                   bool_or(starts_at < starts) over held as was_ever, max(ends_at) filter (where ends_at < starts) over held as ended_at,
                   first_value(end_reason) over (
                       held order by ends_at >= starts and ends_at < cut desc, ends_at desc, starts_at desc, order_id desc, item desc) as last_reason
              from (
                select f.day, f.starts, f.cut, f.customer, f.is_loud, p.*
                  from families f
                 cross join lateral (\(RecurringPeriods.sql { order, start, _ in "\(order) = f.id and \(start) < f.cut" })) p
                 where p.monthly is not null) h
            window held as (partition by day, customer, environment, bundle_id, group_id, currency)
        ), moved as materialized (
            select l.day, l.kind, i.at, l.order_id, l.item, l.place * 2 + i.is_end as place, l.product_id, l.storefront, l.currency, l.sold_at,
                   i.sign * l.monthly as amount, l.transaction_id
              from (
                select *, case when latter = 0 then 'churn_' || coalesce(last_reason, 'other')
                               when former = 0 and was_ever then 'reactivation' when former = 0 then 'new'
                               when latter > former then 'expansion' else 'contraction' end as kind
                  from levels where is_loud and former <> latter) l
             cross join lateral (values (l.starts_at, 0, 1), (l.ends_at, 1, -1)) i (at, is_end, sign)
             where i.at >= l.starts and i.at < l.cut
        ), turned as materialized (
            -- Among the periods that count at the end, the one that began last; without any, the period that ended last.
            select distinct on (day, customer, environment, bundle_id, group_id)
                   day, customer, environment, bundle_id, group_id, is_paying, has_paid, paid_until, order_id, item, place, product_id, storefront, currency, sold_at, transaction_id,
                   end_reason, case when is_paying then starts_at else ends_at end as at
              from (
                select *, bool_or(former > 0) over customers as was_paying, bool_or(latter > 0) over customers as is_paying,
                       bool_or(was_ever) over customers as has_paid, max(ended_at) over customers as paid_until
                  from levels
                window customers as (partition by day, customer, environment, bundle_id, group_id)) c
             where was_paying <> is_paying and ends_at >= case when is_paying then cut else starts end
             order by day, customer, environment, bundle_id, group_id, case when is_paying then starts_at else ends_at end desc, order_id desc,
                      item desc
        ), recurring_rows as not materialized (
            select day, measure, at, order_id, item, place * 2 + (sign = -1)::integer as place, product_id, storefront, currency, sold_at,
                   monthly as amount, transaction_id
              from recurring_events
            union all
            select day, kind, at, order_id, item, place, product_id, storefront, currency, sold_at, amount, transaction_id from moved
            union all
            select t.day, m.measure, t.at, t.order_id, t.item, t.place, t.product_id, t.storefront, t.currency, t.sold_at, null, t.transaction_id
              from turned t
             cross join lateral (
                select case when not t.is_paying then 'customer_lost_' || coalesce(t.end_reason, 'other')
                            when t.has_paid then 'customer_back' else 'customer_new' end as measure
                union all
                select 'customer_back_soon'
                 where t.is_paying and t.has_paid
                   and date_trunc('month', t.paid_until at time zone (select zone from span limit 1)) = date_trunc('month', t.day::timestamp)) m
        )
        """

    /// A query, behind a part `z`: rows of ``FigureMeasure/movements`` and ``FigureMeasure/customers`` behind the mark. Columns as in
    /// ``FigureMeasure/rows(of:retainedAfter:page:)``.
    /// - Parameter isPage: whether they are a page's: then only what may have rows of the question is worked out.
    static func rows(of measures: [FigureMeasure], retainedAfter months: Int? = nil, isPage: Bool = false) -> String {
        let changes =
            isPage
            ? "\(ChangedOrders.parts(of: measures)), \(Self.changes(of: "changed_orders s", isByOrder: true))"
            : "\(wholeDays), \(parts)"
        return """
            select measure, at, order_id, item, place, product_id, storefront, currency, amount, sold_at, transaction_id
              from (
                with \(changes)\(months == nil ? "" : ", \(CohortRows.parts)")
                select r.* from recurring_rows r
                 where r.measure in (\(measures.map { "'\($0.rawValue)'" }.joined(separator: ", ")))\(months.map { " and \(CohortRows.isRetained("r", after: $0))" } ?? "")) r
             where at >= (select since from z)\(isPage ? " and at < (select ends from z)" : "")
            """
    }

    /// A part of a WITH: `span`, the days of `z` behind the mark.
    private static let wholeDays = """
        span as materialized (
            select z.zone, d.day::date as day, \(DayStart.sql("d.day::date", in: "z.zone")) as starts,
                   \(DayStart.sql("d.day::date + 1", in: "z.zone")) as ends
              from z
             cross join lateral generate_series(
                greatest(z.first, (greatest(z.since, z.starts) at time zone z.zone)::date)::timestamp, z.last::timestamp,
                interval '1 day') d (day)
        )
        """

    /// A query, behind a part `z`: periods that count when the last day ends. Columns as in ``FigureMeasure/rows(of:retainedAfter:page:)``.
    static let standing = """
        select 'standing' as measure, p.starts_at as at, p.order_id, p.item, p.place * 2 as place, p.product_id, p.storefront, p.currency,
               p.monthly as amount, p.sold_at, p.transaction_id
          from (select *, least(ends, \(RecurringPeriods.turned)) as cut from z) z
         cross join lateral (\(RecurringPeriods.sql { _, start, end in "\(end) >= z.cut and \(start) < z.cut and \(start) >= z.since" })) p
        """

    /// How many transactions are looked through for the first periods, at most. A rare product or country is found by ends.
    private static let mostLookedThrough = 10_000

    /// A query, behind a part `z`: the first periods behind the mark that may count when the last day ends, those that began last before the others:
    /// `order_id`, `item`, `place`, `starts_at`, and `cut`, the end of the day.
    ///
    /// A few are found by their beginnings: most of those that began last still count. Their number is no value of `z`: the planner has to know it.
    private static func firstPeriods(_ reach: FigureRowPart.Reach) -> String {
        let picked: Int64? = if case .few(let most) = reach { most } else { nil }
        // An index of ends has no such condition.
        let standing = if case .allByEnd = reach { "" } else { " is true" }
        let begun = { (row: String) in
            "\(row).starts_at < z.cut and (\(row).starts_at, \(row).order_id) <= (z.until, z.until_order)"
        }
        let last = { (row: String) in "order by \(row).starts_at desc, \(row).order_id desc" }
        // All that are equal in the order of the indexes.
        let few = { (row: String) in picked.map { "\(last(row)) fetch first \($0) rows with ties" } ?? "" }
        let looked = { (columns: String) in
            """
            select \(columns) from storehook.booked_transactions t
             where \(begun("t")) \(last("t")) fetch first \(mostLookedThrough) rows with ties
            """
        }
        let transactions = picked == nil ? "storehook.booked_transactions" : "(\(looked("t.*")))"
        let floor =
            picked == nil ? "" : "and b.starts_at >= (select min(l.starts_at) from (\(looked("t.starts_at"))) l)"
        return """
            select k.order_id, k.item, k.place, k.at as starts_at, z.cut
              from (select *, least(ends, \(RecurringPeriods.turned)) as cut from z) z
             cross join lateral (
                select p.*
                  from (
                    (select t.starts_at as at, t.order_id, t.item, 0 as place, 'standing' as measure
                       from \(transactions) t
                      cross join lateral (\(asked("t"))) o
                      where (coalesce(t.counts_until, t.ends_at) >= z.cut)\(standing) and \(begun("t")) and \(narrowing)
                      \(few("t")))
                    union all
                    (select b.starts_at, b.order_id, b.item, b.place + 1, 'standing'
                       from storehook.booked_stretches b
                      cross join lateral (
                        select * from storehook.booked_transactions t where (t.order_id, t.item) = (b.order_id, b.item) offset 0) t
                      cross join lateral (\(asked("t"))) o
                      where b.ends_at >= z.cut and \(begun("b")) and \(narrowing) \(floor)
                      \(few("b")))) p
                 order by \(FigureRowPage.order("p", isLatestFirst: true)) \(picked.map { "limit \($0)" } ?? "")) k
            """
    }

    /// A query: the order of a transaction, if the question is for it.
    private static func asked(_ row: String) -> String {
        """
        select from storehook.booked_orders o
         where o.id = \(row).order_id and o.class_id is not null and o.plan_type = 'auto_renewable' and o.environment = z.environment
           and (z.bundle_ids is null or o.bundle_id = any (z.bundle_ids)) offset 0
        """
    }

    /// A condition: whether a transaction `t` may count, and the question may be for it. A currency without a price is none.
    private static let narrowing = """
        not t.is_void and not t.is_trial and t.price is distinct from 0 and \(FigureRowPage.narrowing("t"))
        and (coalesce(z.currency, '') = '' or t.currency = z.currency)
        """

    /// A query: those of these periods that count, with the columns of ``RecurringPeriods`` and `cut`.
    private static func firstCounted(_ reach: FigureRowPart.Reach) -> String {
        """
        select p.*, k.cut
          from (\(firstPeriods(reach))) k
         cross join lateral (\(RecurringPeriods.sql { order, start, end in
             "\(order) = k.order_id and \(start) = k.starts_at and \(end) >= k.cut"
         })) p
         where (p.item, p.place) = (k.item, k.place)
        """
    }

    /// A query: the first rows of ``standing``, from so many periods.
    static func firstStanding(_ reach: FigureRowPart.Reach) -> String {
        """
        select 'standing' as measure, p.starts_at as at, p.order_id, p.item, p.place, p.product_id, p.storefront, p.currency,
               p.monthly as amount, p.sold_at, p.transaction_id
          from (\(firstCounted(reach))) p
        """
    }

    /// A query: the first rows of ``standingCustomers``, from so many periods: each that is the customer's last one.
    static func firstStandingCustomers(_ reach: FigureRowPart.Reach) -> String {
        """
        select 'standing_customer' as measure, p.starts_at as at, p.order_id, p.item, p.place, p.product_id, p.storefront, p.currency,
               null::bigint as amount, p.sold_at, p.transaction_id
          from (\(firstCounted(reach))) p
         where p.monthly is not null
           and not exists (
               select from (\(RecurringPeriods.account(of: "p"))) a
                cross join lateral (\(RecurringPeriods.family(of: "p", account: "a"))) f
                cross join lateral (\(RecurringPeriods.sql { order, start, end in
                    "\(order) = f.id and \(end) >= p.cut and \(start) < p.cut"
                })) q
                where q.monthly is not null and q.group_id = p.group_id
                  and (q.starts_at, q.order_id, q.item) > (p.starts_at, p.order_id, p.item))
        """
    }

    /// A query, behind a part `z`: the customers that pay when the last day ends, each with its period that began last. Columns as in
    /// ``FigureMeasure/rows(of:retainedAfter:page:)``.
    static let standingCustomers = """
        select 'standing_customer' as measure, c.at, c.order_id, c.item, c.place, c.product_id, c.storefront, c.currency, null::bigint as amount,
               c.sold_at, c.transaction_id
          from (
            select distinct on (p.environment, p.bundle_id, p.group_id, coalesce(a.token::text, p.order_id::text))
                   p.starts_at as at, p.order_id, p.item, p.place, p.product_id, p.storefront, p.currency, p.sold_at, p.transaction_id
              from (select *, least(ends, \(RecurringPeriods.turned)) as cut from z) z
             cross join lateral (\(RecurringPeriods.sql { _, start, end in "\(end) >= z.cut and \(start) < z.cut" })) p
             cross join lateral (\(RecurringPeriods.account(of: "p"))) a
             where p.monthly is not null
             order by p.environment, p.bundle_id, p.group_id, coalesce(a.token::text, p.order_id::text), p.starts_at desc, p.order_id desc,
                      p.item desc) c
         where c.at >= (select since from z)
        """
}
