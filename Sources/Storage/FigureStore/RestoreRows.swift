/// Reported restores, and their outcomes, in SQL.
enum RestoreRows {
    /// A query: a row for each restore. Columns as in ``TrialRows/sql(from:measures:columns:)``, and also `environment` and `bundle_id`. A restore
    /// has no order: `order_id` is 0.
    /// - Parameters:
    ///   - span: a FROM clause with the alias `s`. It has the first instant `starts`, and `ends`, the instant behind the last one.
    ///   - measures: the names of the wanted measures, separated by commas; nil for all.
    ///   - columns: further columns of `s`, each with a comma behind it.
    static func sql(from span: String, measures: String? = nil, columns: String = "") -> String {
        """
        select \(columns)m.measure, r.at, 0::bigint as order_id, r.id::text as item, 0 as place, nullif(r.product_id, '') as product_id,
               null::text as storefront, null::text as currency, null::bigint as amount, null::timestamptz as sold_at,
               null::text as transaction_id, r.environment, r.bundle_id
          from \(span)
          join storehook.reported_restores r on r.at >= s.starts and r.at < s.ends
         cross join lateral (select 'restore_' || r.outcome as measure) m
        \(measures.map { " where m.measure in (\($0))" } ?? "")
        """
    }
}
