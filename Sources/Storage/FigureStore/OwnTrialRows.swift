import Base

/// Trials that the app grants itself, and their outcomes, in SQL.
enum OwnTrialRows {
    /// The environment of all of them.
    private static let environment = Environment.production

    /// A query: a row for each trial and each of its measures, which are ``FigureMeasure/ownTrials``. Columns as in
    /// ``RestoreRows/sql(from:measures:columns:)``: a trial has no order.
    ///
    /// A trial is identified by the hash of its account. After the erasure of the account, the row still has the outcome of that instant; after an
    /// erasure by an earlier release it has none, and counts nowhere. A trial that an earlier release began belongs to the only app with
    /// subscriptions in the catalog.
    /// - Parameters:
    ///   - span: a FROM clause with the alias `s`. It has the first instant `starts`, and `ends`, the instant behind the last one.
    ///   - measures: the names of the wanted measures, separated by commas; nil for all.
    ///   - columns: further columns of `s`, each with a comma behind it.
    static func sql(from span: String, measures: String? = nil, columns: String = "") -> String {
        """
        select \(columns)m.measure, t.started_at as at, 0::bigint as order_id, encode(t.account_hash, 'hex') as item, 0 as place, t.product_id,
               null::text as storefront, null::text as currency, null::bigint as amount, null::timestamptz as sold_at, m.transaction_id,
               '\(environment.rawValue)' as environment, coalesce(t.bundle_id, \(onlyApp), '') as bundle_id
          from \(span)
          join storehook.trials t
            on t.started_at >= s.starts and t.started_at < s.ends and (t.token is not null or t.outcome is not null)
          left join lateral (\(AccountRows.firstPayment(of: "t.token", in: environment))) p on true
         cross join lateral (
            select coalesce(t.outcome in ('converted', 'refunded'),
                            p.starts_at >= t.started_at and p.starts_at <= t.ends_at + \(TrialRows.patience), false) as is_converted) c
         cross join lateral (
            values ('own_trial', true, null), ('own_trial_converted', c.is_converted, p.transaction_id),
                   ('own_trial_refunded', c.is_converted and coalesce(t.outcome = 'refunded', p.is_refunded), p.transaction_id),
                   ('own_trial_lapsed', not c.is_converted
                                        and (t.outcome is not null or t.ends_at + \(TrialRows.patience) < \(RecurringPeriods.turned)), null))
               m (measure, holds, transaction_id)
         where m.holds\(measures.map { " and m.measure in (\($0))" } ?? "")
        """
    }

    /// An expression: the only app with subscriptions in the catalog; null with several.
    private static let onlyApp = """
        (select case when min(bundle_id) = max(bundle_id) then min(bundle_id) end from storehook.figure_plans)
        """

    /// A query: as `at`, the starts of trials that may lapse from `z.first` to `z.last` by the passing of time alone.
    static let turning = """
        select t.started_at as at from storehook.trials t
         where t.ends_at >= z.first - \(TrialRows.patience) and t.ends_at < z.last - \(TrialRows.patience)
        """
}
