import Base
import Figures

/// Accounts and their first payments, in SQL.
enum AccountRows {
    /// A condition: whether a transaction is a payment. What is paid without a signed price is one.
    private static func isPayment(_ row: String) -> String {
        "not \(row).is_void and not \(row).is_trial and \(row).price is distinct from 0"
    }

    /// A query: the first payments of accounts, which are known and not erased, in each environment. Columns as in
    /// ``TrialRows/sql(from:measures:columns:)``.
    /// - Parameters:
    ///   - span: a FROM clause with an alias `s`, which has the first instant `starts` and the instant `ends` behind the last one.
    ///   - columns: further columns of `s`, `t` (the payment), `o` (its order) and `k` (the account), each with a comma behind it.
    static func paid(from span: String, columns: String = "") -> String {
        """
        select \(columns)'account_paid' as measure, t.starts_at as at, t.order_id, t.item, 0 as place, t.product_id, t.storefront, t.currency,
               null::bigint as amount, null::timestamptz as sold_at, t.transaction_id
          from \(span)
          join storehook.booked_transactions t on t.starts_at >= s.starts and t.starts_at < s.ends and \(isPayment("t"))
         -- Nearly always something was paid of the same order before, and nothing else is read.
         cross join lateral (
            select exists (
                select from storehook.booked_transactions p
                 where p.order_id = t.order_id and (p.starts_at, p.item) < (t.starts_at, t.item) and \(isPayment("p"))) as is_later
            offset 0) e
         cross join lateral (
            select o.environment, o.bundle_id, coalesce(o.original_transaction_id, o.order_key) as order_key
              from storehook.booked_orders o where o.id = t.order_id and o.class_id is not null and not e.is_later offset 0) o
         cross join lateral (\(RecurringPeriods.account(of: "o"))) a
         cross join lateral (
            select k.token, k.known_at from storehook.accounts k where k.token = a.token and k.erased_at is null offset 0) k
         cross join lateral (
            select exists (\(payments(
                of: "k.token",
                where: "l.environment = o.environment and (p.starts_at, p.order_id, p.item) < (t.starts_at, t.order_id, t.item)"))
            ) as is_later offset 0) l
         where not l.is_later
        """
    }

    /// Parts of a WITH, behind a part `span` of the days (`zone`, `day`, `starts`, `ends`). `account_rows` has `day`, `measure` and
    /// `environment` of ``FigureMeasure/accounts``. An account is known in each environment.
    static let parts = """
        first_payments as materialized (
            \(paid(from: "span s", columns: "s.day, o.environment, k.known_at, "))
        ), account_rows as materialized (
            select day, measure, environment from first_payments
            union all
            select day, 'account_known', environment from first_payments where at < known_at
            union all
            select s.day, 'account_known', e.environment
              from span s
              join storehook.accounts k on k.known_at >= s.starts and k.known_at < s.ends and k.erased_at is null
               and k.token <> '\(RecurringPeriods.noAccount)'
             -- Once for all environments: an import may make millions of accounts known on one day, and most have bought nothing.
             cross join lateral (
                select case when exists (select from storehook.account_lines l where l.token = k.token)
                            then array(\(payments("l.environment", of: "k.token", where: "p.starts_at < k.known_at")))
                            else '{}' end as environments
                offset 0) p
             cross join unnest('{\(Environment.known.map(\.rawValue).sorted().joined(separator: ","))}'::text[]) e (environment)
             where e.environment <> all (p.environments)
        )
        """

    /// A query: payments of an account that fulfil a condition, of the transaction `p` and of the account's line `l`. A purchase that several
    /// accounts had is the payment of none.
    private static func payments(_ columns: String = "", of token: String, where condition: String) -> String {
        """
        select \(columns) from storehook.account_lines l
          cross join lateral (
            select b.id from storehook.booked_orders b
             where (b.environment, b.bundle_id, b.order_key) = (l.environment, l.bundle_id, l.original_transaction_id)
               and b.class_id is not null
            union
            -- Several things that were bought once may have one originalTransactionId.
            select b.id from storehook.booked_orders b
             where b.original_transaction_id = l.original_transaction_id and b.order_key <> b.original_transaction_id
               and (b.environment, b.bundle_id) = (l.environment, l.bundle_id) and b.class_id is not null) b
          join storehook.booked_transactions p on p.order_id = b.id
         where l.token = \(token) and \(isPayment("p")) and \(condition)
           and not exists (
               select from storehook.account_lines w
                where (w.original_transaction_id, w.bundle_id, w.environment) = (l.original_transaction_id, l.bundle_id, l.environment)
                  and w.token not in (l.token, '\(RecurringPeriods.noAccount)'))
        """
    }
}
