import Figures

/// Estimated proceeds of sales, and what refunds take back of them, in SQL.
enum ProceedsRows {
    /// A query: a row for each sale with money, each refund of one, and each reversal. Columns as in ``TrialRows/sql(from:measures:columns:)``.
    ///
    /// A refund has the commission and the tax of its sale: a refund of the whole price takes back all proceeds of the sale.
    /// - Parameters:
    ///   - span: a FROM clause with the alias `s`. It has the first instant `starts`, `ends`, the instant behind the last one, and `zone`, for the
    ///     days of terms.
    ///   - measures: the names of the wanted measures, separated by commas; nil for all.
    ///   - isByDay: whether the `day` of `s` is the first column.
    ///   - isPage: whether to work out only what a page needs, see ``FigureRowPage``.
    static func sql(
        from span: String, measures: String? = nil, isByDay: Bool = false, isPage: Bool = false
    ) -> String {
        let sale = """
            t.order_id, t.item, t.product_id, t.storefront, t.currency, t.starts_at, t.part_of, t.transaction_id
            """
        let day = isByDay ? "s.day, " : ""
        return """
            with sold as materialized (
                select e.*
                  from (
                select e.*, coalesce(e.storefront, '') as country, o.environment, o.bundle_id, o.plan_type,
                       (e.starts_at at time zone e.zone)::date as sold_on
                  from (
                    select \(day)s.zone, 'proceeds' as measure, t.starts_at as at, 0 as place, t.price as value, \(sale)
                      from \(span)
                      join storehook.booked_transactions t on t.starts_at >= s.starts and t.starts_at < s.ends
                     where not t.is_void and t.price is distinct from 0
                    union all
                    select \(day)s.zone, case r.type when 'refund' then 'proceeds_back' else 'proceeds_again' end, r.at, r.place + 1,
                           r.amount, \(sale)
                      from \(span)
                      join storehook.booked_refunds r on r.at >= s.starts and r.at < s.ends and r.type in ('refund', 'refund_reversed')
                      join storehook.booked_transactions t on (t.order_id, t.item) = (r.order_id, r.item)
                     where not t.is_void and t.price is distinct from 0) e
                 cross join lateral (
                    select o.environment, o.bundle_id, o.plan_type from storehook.booked_orders o
                     where o.id = e.order_id and o.class_id is not null offset 0) o
                \(measures.map { " where e.measure in (\($0))" } ?? "")) e
                \(isPage ? page : "")
            ), terms as materialized (
                select d.*, r.first_year, r.later_years, r.one_time, \(untaxed) as untaxed
                  from (select distinct bundle_id, country, sold_on from sold) d
                  left join lateral (\(rate)) r on true
            )
            select \(isByDay ? "e.day, " : "")e.measure, e.at, e.order_id, e.item, e.place, e.product_id, e.storefront, e.currency,
                   (\(ConvertedCells.amount("e.value", "\(PriceShare.whole * PriceShare.whole)", "k.kept")))::bigint as amount,
                   e.starts_at as sold_at, e.transaction_id
              from sold e
              join terms m on (m.bundle_id, m.country, m.sold_on) = (e.bundle_id, e.country, e.sold_on)
             -- Worked out once for each row. Without the offset, PostgreSQL would repeat the expression at each use.
             cross join lateral (
                select m.untaxed * (\(PriceShare.whole)
                                    - case when e.plan_type <> 'auto_renewable' then m.one_time
                                           when m.later_years is not distinct from m.first_year or not (\(isLater)) then m.first_year
                                           else m.later_years end) as kept
                offset 0) k
            """
    }

    /// The condition, order and limit of a page of `e`. They need no column that is worked out later.
    private static let page = """
        cross join z
         where \(FigureRowPage.condition("e"))
         order by \(FigureRowPage.order("e"))
         limit (select page from z)
        """

    /// A query: Apple's commission of `d`: the last entry that fits and does not begin after the day.
    private static let rate = """
        select f.first_year, f.later_years, f.one_time
          from storehook.figure_terms f
         where f.kind = 'rate' and f.first_day <= d.sold_on and (f.storefronts is null or d.country = any (f.storefronts))
           and (f.program is null or f.program = coalesce((
                   select p.program from storehook.figure_terms p
                    where p.kind = 'program' and p.first_day <= d.sold_on and (p.bundle_ids is null or d.bundle_id = any (p.bundle_ids))
                    order by p.place desc limit 1), '\(Commission.Program.standard.rawValue)'))
         order by f.place desc limit 1
        """

    /// An expression: the share of a price of `d` without tax, in thousandths of a percent.
    private static let untaxed = """
        \(PriceShare.whole) - coalesce((
            select f.included::bigint from storehook.figure_terms f
             where f.kind = 'tax' and f.first_day <= d.sold_on and d.country = any (f.storefronts)
             order by f.place desc limit 1), 0)
        """

    /// A condition: whether a year of service was paid before the period of `e` began.
    ///
    /// Each paid period of the order counts whole, and once: seats that were added to it do not count. A year is twelve months, or 52 weeks. A
    /// free period adds nothing, and is no lapse. Behind a lapse that is too long, a new year begins. The period of `e` itself is the last of them,
    /// with no length: so a lapse right before it counts.
    private static let isLater = """
        select coalesce(sum(c.served) filter (where c.run = c.last_run), 0) >= 48 * 13
          from (
            select r.served, r.run, max(r.run) over () as last_run
              from (
                select l.served, count(*) filter (where l.starts_at > l.ended_at + \(longestLapse)) over (order by l.starts_at, l.item) as run
                  from (
                    select h.*, lag(h.ends_at) over (order by h.starts_at, h.item) as ended_at
                      from (
                        select coalesce((
                                   select b.starts_at from storehook.booked_transactions b
                                    where (b.order_id, b.item) = (e.order_id, e.part_of)), e.starts_at) as starts_at) a
                     cross join lateral (
                        select h.item, h.sold_at as starts_at, h.ends_at, case when h.is_free then 0 else \(served) end as served
                          from (
                            select b.is_trial or b.price is not distinct from 0 as is_free, b.item, b.product_id, b.starts_at as sold_at, b.ends_at, b.billed_quarters,
                                   coalesce(b.first_ends_at, b.ends_at) as signed_end
                              from storehook.booked_transactions b
                             where b.order_id = e.order_id and b.starts_at < a.starts_at and not b.is_void
                               and b.revoked_share is distinct from \(PriceShare.whole)
                               and coalesce(b.part_of, b.item) = b.item) h
                          left join storehook.figure_plans p on (p.bundle_id, p.product_id) = (e.bundle_id, h.product_id)
                         cross join lateral (select \(RecurringPeriods.quarters) as quarters offset 0) q
                        union all
                        select e.item, a.starts_at, null, 0) h) l) r) c
        """

    /// An expression: what a period of `q.quarters` of a month adds to the year. Fewer than four quarters are weeks.
    private static let served = "(case when q.quarters < 4 then q.quarters * 12 else q.quarters * 13 end)"

    /// An interval: the longest lapse after which the year goes on, 60 days. It is in hours: an interval's days follow the session's zone.
    private static let longestLapse = "interval '1440 hours'"
}
