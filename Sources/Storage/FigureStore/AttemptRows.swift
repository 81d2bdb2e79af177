/// Reported attempts to buy, and their outcomes, in SQL.
enum AttemptRows {
    /// A query: a row for each attempt. Columns as in ``TrialRows/sql(from:measures:columns:)``.
    ///
    /// The outcome of an attempt without a transaction stands in its own order, which the clock of orders keeps. A product that the catalog lacks
    /// is in no figure: an app may write anything in its place, even a name.
    /// - Parameters:
    ///   - span: a FROM clause with the alias `s`. It has the first instant `starts`, and `ends`, the instant behind the last one.
    ///   - measures: the names of the wanted measures, separated by commas; nil for all.
    ///   - columns: further columns of `s`, each with a comma behind it.
    static func sql(from span: String, measures: String? = nil, columns: String = "") -> String {
        """
        select \(columns)m.measure, a.first_at as at, coalesce(a.matched_order_id, a.order_id) as order_id, 'attempt-' || a.id as item,
               0 as place, case when a.bundle_id <> '' then a.product_id end as product_id, null::text as storefront, null::text as currency,
               null::bigint as amount, null::timestamptz as sold_at,
               (select t.transaction_id from storehook.booked_transactions t
                 where (t.order_id, t.item) = (a.matched_order_id, a.matched_item)) as transaction_id
          from \(span)
         cross join lateral (
            select a.id, a.order_id, a.bundle_id, a.product_id, a.first_at, a.matched_order_id, a.matched_item,
                   case when a.matched_order_id is not null then 'completed'
                             else (select o.status from storehook.booked_orders o where o.id = a.order_id) end as status
              from storehook.booked_attempts a where a.first_at >= s.starts and a.first_at < s.ends offset 0) a
          join (values ('attempt_completed', 'completed'), ('attempt_failed', 'failed'), ('attempt_cancelled', 'cancelled'),
                       ('attempt_pending', 'pending')) m (measure, status) using (status)
        \(measures.map { " where m.measure in (\($0))" } ?? "")
        """
    }
}
