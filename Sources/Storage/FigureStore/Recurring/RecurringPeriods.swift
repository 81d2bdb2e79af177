/// Periods that count for recurring revenue, in SQL.
enum RecurringPeriods {
    /// A query: each stretch of time of the books that counts, with its price a month. Void, free and hidden periods do not count.
    ///
    /// `environment`, `bundle_id`, `order_key`, `order_id`, `item`, `place` (0 of the stretch that begins with its period), `transaction_id`,
    /// `product_id`, `storefront`, `currency`, `starts_at`, `ends_at`, `end_reason`, `sold_at` (the beginning of the period), `group_id` and
    /// `monthly` (in thousandths of the currency; null, as `currency` is, without a known price).
    /// - Parameter condition: makes a condition from expressions of a stretch's order, beginning and end.
    static func sql(where condition: (_ order: String, _ start: String, _ end: String) -> String) -> String {
        let whole = condition("t.order_id", "t.starts_at", end)
        let further = condition("b.order_id", "b.starts_at", "b.ends_at")
        return """
            select o.environment, o.bundle_id, o.order_key, h.order_id, h.item, h.place, h.transaction_id, h.product_id, h.storefront,
                   case when m.monthly is not null then h.currency end as currency, h.starts_at, h.ends_at, h.end_reason, h.sold_at,
                   coalesce(p.group_id, '') as group_id, m.monthly
              from (
                select \(columns), 0 as place, t.starts_at, \(end) as ends_at, t.end_reason
                  from storehook.booked_transactions t
                 where \(whole) and t.starts_at < \(end) and \(counts)
                union all
                select \(columns), b.place + 1, b.starts_at, b.ends_at, b.end_reason
                  from storehook.booked_stretches b
                  join storehook.booked_transactions t on (t.order_id, t.item) = (b.order_id, b.item)
                 where \(further) and b.starts_at < b.ends_at and \(counts)) h
             -- Each by its index: a join that is planned for more days than there are would read all orders.
             cross join lateral (
                select o.environment, o.bundle_id, o.order_key from storehook.booked_orders o
                 where o.id = h.order_id and o.class_id is not null and o.plan_type = 'auto_renewable' offset 0) o
              left join storehook.figure_plans p on (p.bundle_id, p.product_id) = (o.bundle_id, h.product_id)
             -- Worked out once for each row. Without the offset, PostgreSQL would repeat both expressions at each use.
             cross join lateral (
                select \(quarters) as quarters offset 0) q
             cross join lateral (
                select case when h.currency is not null and h.price between 0 and \(mostPrice)
                            then (\(halfEven("h.price * 4", "q.quarters"))) end as monthly offset 0) m
             where m.monthly is distinct from 0
            """
    }

    /// An expression: the end of a transaction `t`. The index of ends has it.
    static let end = "coalesce(t.counts_until, t.ends_at)"
    /// A condition: whether a transaction `t` may count.
    static let counts = "not t.is_void and not t.is_trial and t.price is distinct from 0"
    private static let columns = """
        t.order_id, t.item, t.transaction_id, t.product_id, t.storefront, t.currency, t.price, t.billed_quarters,
        t.starts_at as sold_at, coalesce(t.first_ends_at, t.ends_at) as signed_end
        """

    /// A trillion units of a currency, in thousandths. No product costs so much, and sums of higher prices might not fit.
    static let mostPrice: Int64 = 1_000_000_000_000_000

    /// An expression: the length of a period `h` (`billed_quarters`, `sold_at`, `signed_end`) in quarters of a month. The plan `p` of its product may
    /// be missing.
    static let quarters = "coalesce(h.billed_quarters, p.quarters, (\(nearestQuarters)))"

    /// Out of 7 days and 1, 2, 3, 6 and 12 calendar months in UTC, the length with the end nearest to the first signed one; the shorter of two that
    /// are equally near.
    private static let nearestQuarters = """
        select n.quarters
          from (values (1::smallint, interval '7 days'), (4, interval '1 month'), (8, interval '2 months'), (12, interval '3 months'),
                       (24, interval '6 months'), (48, interval '1 year')) n (quarters, length)
         order by abs(extract(epoch from (h.sold_at at time zone 'UTC' + n.length) at time zone 'UTC' - h.signed_end)), n.quarters
         limit 1
        """

    /// An expression: a quotient of whole numbers that are not negative, rounded half to even.
    private static func halfEven(_ dividend: String, _ divisor: String) -> String {
        let (whole, rest) = ("\(dividend) / \(divisor)", "2 * ((\(dividend)) % \(divisor))")
        return """
            \(whole) + case when \(rest) > \(divisor) or \(rest) = \(divisor) and (\(whole)) % 2 = 1 then 1 else 0 end
            """
    }

    /// An expression: the instant until which figures count what begins and ends.
    static let turned = "(select coalesce(turned_until, '-infinity') from storehook.figure_state)"

    /// A query: as `token`, the account of a purchase that never had another one; null for other purchases. A purchase that several accounts had
    /// is a customer of its own.
    /// - Parameter purchase: the alias of a row with `environment`, `bundle_id` and `order_key`.
    static func account(of purchase: String) -> String {
        """
        select case when count(*) = 1 then min(w.token::text)::uuid end as token
          from storehook.account_lines w
         where (w.original_transaction_id, w.bundle_id, w.environment)
               = (\(purchase).order_key, \(purchase).bundle_id, \(purchase).environment)
           and w.token <> '\(noAccount)'
        """
    }

    /// A query: as `id`, the orders of a purchase's customer: those of its account, or without one the purchase's own. They include orders of
    /// products that do not renew.
    /// - Parameters:
    ///   - purchase: the alias of a row with `environment`, `bundle_id` and `order_id`.
    ///   - account: the alias of its row of ``account(of:)``.
    static func family(of purchase: String, account: String) -> String {
        """
        select \(purchase).order_id as id
        union
        select o.id
          from storehook.account_lines k
          join storehook.booked_orders o
            on (o.environment, o.bundle_id, o.order_key) = (k.environment, k.bundle_id, k.original_transaction_id)
         cross join lateral (\(Self.account(of: "o"))) b
         where k.token = \(account).token and k.environment = \(purchase).environment and k.bundle_id = \(purchase).bundle_id
           and b.token = \(account).token
        """
    }

    /// The token of purchases of erased accounts.
    static let noAccount = "00000000-0000-0000-0000-000000000000"
}
