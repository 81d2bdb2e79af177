import Figures
import Postgres

/// The orders that may have changes of recurring revenue among the rows of a page, in SQL.
///
/// A row of a change stands where a period of its order begins or ends, with the product, country and currency of this period. So the orders
/// with such a period in a stretch of time are all that may have rows in it.
enum ChangedOrders {
    /// Parts of a WITH, behind a part `z`, see ``FigureRowPage``.
    ///
    /// - `span` and `recurring_span`, as for ``RecurringChanges/parts``: the days of these periods;
    /// - `changed_orders`: `day`, `starts`, `cut`, and as `id` the orders whose changes on the day have to be known. Of customers, these are
    ///   all orders of theirs.
    static func parts(of measures: [FigureMeasure]) -> String {
        let sides = sides(of: measures)
        let back = sides.contains(.back) ? "back_spans as materialized (\(backSpans)), " : ""
        let customers = measures.filter { FigureMeasure.customers.contains($0) }
        let condition = customers == measures ? "not (\(isSteady)) and (not e.is_back or \(mayBeBack))" : "true"
        let changed = customers.isEmpty ? "select day, starts, cut, order_id as id from asked_orders" : ofCustomers
        return """
            looked as materialized (\(looked)), \(back)period_events as materialized (
                select distinct z.zone, (e.at at time zone z.zone)::date as day, e.order_id, e.product_id, e.is_back
                  from looked z
                 cross join lateral (\(sides.map(\.events).joined(separator: "\nunion all\n"))) e
            ), span as materialized (
                select d.zone, d.day, \(DayStart.sql("d.day", in: "d.zone")) as starts, \(DayStart.sql("d.day + 1", in: "d.zone")) as ends
                  from (select distinct zone, day from period_events) d
            ), \(RecurringChanges.spanPart), asked_orders as materialized (
                select distinct e.day, e.starts, e.cut, e.environment, e.bundle_id, e.order_key, e.order_id
                  from (
                    select s.day, s.starts, s.cut, o.environment, o.bundle_id, o.order_key, e.order_id, e.product_id, e.is_back
                      from z
                     cross join period_events e
                      join recurring_span s on s.day = e.day
                     cross join lateral (
                        select o.environment, o.bundle_id, o.order_key from storehook.booked_orders o
                         where o.id = e.order_id and o.class_id is not null and o.plan_type = 'auto_renewable'
                           and o.environment = z.environment and (z.bundle_ids is null or o.bundle_id = any (z.bundle_ids)) offset 0) o
                    offset 0) e
                 where \(condition)
            ), changed_orders as materialized (\(changed))
            """
    }

    /// Where rows may stand.
    private enum Side {
        /// Where a period begins.
        case begin
        /// Where a period begins, on a day with a customer that is back soon.
        case back
        /// Where a period ends.
        case end

        /// Expressions: the instant in a transaction `t` and in a stretch `b`.
        var instants: (whole: String, further: String) {
            self == .end
                ? (whole: RecurringPeriods.end, further: "b.ends_at") : (whole: "t.starts_at", further: "b.starts_at")
        }

        /// A query, for each row `z` of `looked`: `at`, `order_id`, `product_id` and `is_back`.
        var events: String {
            let (whole, further) = instants
            let isBack = self == .back
            let (source, first, last) = (
                isBack ? "back_spans s cross join " : "", isBack ? "s.starts" : "z.looked_from",
                isBack ? "s.ends" : "z.looked_until"
            )
            return """
                select \(whole) as at, t.order_id, t.product_id, \(isBack) as is_back
                  from \(source)storehook.booked_transactions t
                 where \(whole) >= \(first) and \(whole) < \(last) and \(ChangedOrders.isAsked("t"))
                union all
                select \(further), t.order_id, t.product_id, \(isBack)
                  from \(source)storehook.booked_stretches b
                  join storehook.booked_transactions t on (t.order_id, t.item) = (b.order_id, b.item)
                 where \(further) >= \(first) and \(further) < \(last) and \(ChangedOrders.isAsked("t"))
                """
        }
    }

    /// A customer that stops has a row where a period ends; one that begins to pay, where a period begins; movements have rows at both.
    private static func sides(of measures: [FigureMeasure]) -> [Side] {
        let isMoved = measures.contains { FigureMeasure.movements.contains($0) }
        let isBegun = isMoved || measures.contains(.customerNew) || measures.contains(.customerBack)
        let lost: [FigureMeasure] = [.customerLostVoluntary, .customerLostBilling, .customerLostOther]
        let isLost = isMoved || measures.contains { lost.contains($0) }
        return (isBegun ? [.begin] : measures.contains(.customerBackSoon) ? [.back] : []) + (isLost ? [.end] : [])
    }

    /// A query: the row `z` with the instants of the part, as `looked_from` and `looked_until`.
    fileprivate static let looked =
        "select z.*, greatest(z.since, z.starts) as looked_from, least(z.ends, \(RecurringPeriods.turned)) as looked_until from z"

    /// A condition: whether a transaction may count, and the question may be for it. A row of a change always has a price, and so a currency.
    private static func isAsked(_ row: String) -> String {
        """
        not \(row).is_void and not \(row).is_trial and \(row).price is distinct from 0 and \(FigureRowPage.narrowing(row))
        and (z.currency is null or coalesce(\(row).currency, '') = z.currency)
        """
    }

    /// A query, behind the part `looked`: `starts` and `ends` of the times in which customers may be back soon. The sums of the standing zone have
    /// the days; days that are not summed yet may have some, too. Nearly all other customers that begin to pay are new, and a new one takes long
    /// to tell from one that is back.
    private static let backSpans = """
        select z.looked_from as starts, z.looked_until as ends from looked z where not exists (\(summed))
        union all
        select greatest(z.looked_from, \(DayStart.sql("d.day", in: "z.zone"))), least(z.looked_until, \(DayStart.sql("d.day + 1", in: "z.zone")))
          from looked z
         cross join lateral (
            select d.day::date as day
              from generate_series(
                (z.looked_from at time zone z.zone)::date::timestamp, (z.looked_until at time zone z.zone)::date::timestamp,
                interval '1 day') d (day)
             where exists (
                select from storehook.figure_sums s
                 where s.grain = '\(FigureGrain.allDay.rawValue)' and s.zone = z.zone and s.environment = z.environment and s.period = d.day::date
                   and s.measure = '\(FigureMeasure.customerBackSoon.rawValue)' and s.count <> 0)
            union
            select m.day from (\(DayStart.marked(in: "(select zone from z)"))) m) d
         where exists (\(summed))
        """

    /// A query: a row if all days of the zone `z.zone` are summed by this release, or marked.
    private static let summed = """
        select from storehook.figure_state f where f.zone = z.zone and f.content >= \(FigureState.content)
        """

    /// A condition: whether the customer of a period `e` pays for its product when its day starts and at its `cut`. Then it neither begins nor
    /// stops, and this takes one look at the order. No plan is longer than 48 quarters of a month: a tenth of a unit of a currency has a price a
    /// month of more than nothing.
    private static let isSteady = """
        select coalesce(bool_or(t.starts_at < e.starts and \(RecurringPeriods.end) >= e.starts), false)
           and coalesce(bool_or(t.starts_at < e.cut and \(RecurringPeriods.end) >= e.cut), false)
          from storehook.booked_transactions t
         where t.order_id = e.order_id and t.product_id is not distinct from e.product_id and \(RecurringPeriods.counts)
           and t.currency is not null and t.price between 100 and \(RecurringPeriods.mostPrice) and coalesce(t.billed_quarters, 0) <= 48
        """

    /// A condition: whether the customer of a period `e` may have paid before its day: by the same order, or by another one of the account.
    private static let mayBeBack = """
        exists (select from storehook.booked_transactions t where t.order_id = e.order_id and t.starts_at < e.starts)
        or exists (
            select from storehook.account_lines w
              join storehook.account_lines k on (k.token, k.environment, k.bundle_id) = (w.token, w.environment, w.bundle_id)
             where (w.original_transaction_id, w.bundle_id, w.environment) = (e.order_key, e.bundle_id, e.environment)
               and k.original_transaction_id <> w.original_transaction_id)
        """

    /// A query, behind the part `asked_orders`: all orders of these customers.
    private static let ofCustomers = """
        select distinct c.day, c.starts, c.cut, f.id
          from asked_orders c
         cross join lateral (\(RecurringPeriods.account(of: "c"))) a
         cross join lateral (\(RecurringPeriods.family(of: "c", account: "a"))) f
        """

    /// Expressions, for a row `z` of `looked`: for each side of the rows, the instant with the last of so many periods of the question, or that of
    /// the last transaction that is looked through; null where there are fewer.
    /// - Parameter most: how many transactions are looked through.
    fileprivate static func instants(
        of measures: [FigureMeasure], _ periods: Int64, lookingThrough most: Int64
    ) -> String {
        let sides = sides(of: measures)
        // The few customers that are back soon do not count where others stop.
        let counted = sides.contains(.end) ? sides.filter { $0 != .back } : sides
        return counted.map { side in
            let at = side.instants.whole
            let order = """
                 from storehook.booked_transactions t
                where \(at) >= z.looked_from and \(at) < z.looked_until
                order by \(at)
                """
            return """
                coalesce((
                 select t.at
                   from (select \(at) as at, t.* \(order) limit \(most)) t
                  where \(isAsked("t"))
                  order by t.at offset \(periods - 1) limit 1), (
                 select \(at) \(order) offset \(most - 1) limit 1))
                """
        }.joined(separator: ", ")
    }
}

extension PostgresQuery {
    /// The instant behind a part of a page, in microseconds since 1970; null for the end of its days. About so many periods begin or end in the
    /// part. Where few are of the question, it ends behind a number of transactions.
    static func changesEnd(
        of part: FigureRowPart, _ asked: FigureRowQuestion, _ zone: String, after mark: FigureRowMark?, _ periods: Int64
    ) -> PostgresQuery {
        let instants = ChangedOrders.instants(
            of: asked.question.figure.rowMeasures, periods, lookingThrough: part.transactions)
        return PostgresQuery(
            "figures.changes_end",
            """
            with z as materialized (\(page: asked, part, in: zone, after: mark, 1)), looked as materialized (\(unescaped: ChangedOrders.looked))
            select case when u.until < u.ends then (extract(epoch from u.until) * 1000000)::bigint end as until
              from (select z.ends, least(\(unescaped: instants)) + interval '1 microsecond' as until from looked z) u
            """)
    }
}
