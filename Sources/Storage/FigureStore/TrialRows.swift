/// Free trials of Apple's, and their outcomes, in SQL.
enum TrialRows {
    /// A query: a row for each trial and each of ``FigureMeasure/trials`` that is true of it. Columns as in
    /// ``FigureMeasure/rows(of:retainedAfter:page:)``.
    ///
    /// Something that Apple adds to a trial, such as a seat, is no trial of its own. A paid transaction without a signed price is a payment.
    /// - Parameters:
    ///   - span: a FROM clause with the alias `s`. It has the first instant `starts`, and `ends`, the instant behind the last one.
    ///   - measures: the names of the wanted measures, separated by commas; nil for all.
    ///   - columns: further columns of `s`, each with a comma behind it.
    static func sql(from span: String, measures: String? = nil, columns: String = "") -> String {
        """
        select \(columns)m.measure, t.starts_at as at, t.order_id, t.item, 0 as place, t.product_id, t.storefront, t.currency,
               null::bigint as amount, null::timestamptz as sold_at, t.transaction_id
          from \(span)
          join storehook.booked_transactions t
            on t.starts_at >= s.starts and t.starts_at < s.ends and t.is_trial and not t.is_void and coalesce(t.part_of, t.item) = t.item
          left join lateral (
            select p.item, p.revoked_share is distinct from 0 as is_refunded
              from storehook.booked_transactions p
             where p.order_id = t.order_id and p.starts_at > t.starts_at and p.starts_at <= t.ends_at + \(patience)
               and not p.is_void and not p.is_trial and p.price is distinct from 0
             order by p.starts_at, p.item
             limit 1) p on true
         cross join lateral (
            values ('trial', true), ('trial_converted', p.item is not null), ('trial_refunded', p.is_refunded),
                   ('trial_lapsed', p.item is null
                                    and (t.ends_at + \(patience) < \(RecurringPeriods.turned)
                                         or t.is_renewal_off and t.ends_at < \(RecurringPeriods.turned)))) m (measure, holds)
         where m.holds\(measures.map { " and m.measure in (\($0))" } ?? "")
        """
    }

    /// An expression: the time after its end in which a trial may convert, 60 days. It is in hours: an interval's days follow the session's zone.
    static let patience = "interval '1440 hours'"

    /// A query: as `at`, the starts of trials with an outcome that may change from `z.first` to `z.last` by the passing of time alone.
    static let turning = """
        select t.starts_at as at from storehook.booked_transactions t where t.is_trial and t.ends_at >= z.first and t.ends_at < z.last
        union all
        select t.starts_at from storehook.booked_transactions t
         where t.is_trial and t.ends_at >= z.first - \(patience) and t.ends_at < z.last - \(patience)
        """
}
