import Base
import Figures

/// Accounts and their first payments, in SQL.
enum AccountRows {
    /// A condition: whether a transaction is a payment. A paid transaction without a signed price is one.
    private static func isPayment(_ row: String) -> String {
        "not \(row).is_void and not \(row).is_trial and \(row).price is distinct from 0"
    }

    /// A query: the first payments, in each environment, of accounts that are known and not erased. Columns as in
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
         -- Nearly always the order has an earlier payment, and nothing else is read.
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
         cross join lateral (select exists (\(earlierPayments)) as is_later offset 0) l
         where not l.is_later
        """
    }

    /// Parts of a WITH, behind a part `span` of the days (`zone`, `day`, `starts`, `ends`). `account_rows` has `day`, `measure`, `environment` and
    /// `count` of ``FigureMeasure/accounts``; rows of ``FigureMeasure/accountEarly`` also have the day `known_on`. An account is known in each
    /// environment.
    ///
    /// An import may make millions of accounts known on one day. These are counted without a look at their payments: an account that paid before
    /// that day has a row of ``FigureMeasure/accountEarly`` on the day of the payment.
    static let parts = """
        first_payments as materialized (
            \(paid(
                from: "span s",
                columns: "s.day, o.environment, k.known_at, (k.known_at at time zone s.zone)::date as known_on, "))
        ), account_rows as materialized (
            select f.day, m.measure, f.environment, m.known_on, count(*) as count
              from first_payments f
             cross join lateral (
                select 'account_paid' as measure, null::date as known_on
                union all
                select 'account_known', null where f.at < f.known_at
                union all
                select 'account_early', f.known_on where f.at < f.known_at) m
             group by f.day, m.measure, f.environment, m.known_on
            union all
            select s.day, 'account_known', e.environment, null, k.count
              from span s
             cross join lateral (
                select count(*) as count
                  from storehook.accounts k
                 where k.known_at >= s.starts and k.known_at < s.ends and k.erased_at is null
                   and k.token <> '\(RecurringPeriods.noAccount)' offset 0) k
             cross join unnest('{\(Environment.known.map(\.rawValue).sorted().joined(separator: ","))}'::text[]) e (environment)
             where k.count > 0
        )
        """

    /// An expression: the day on which a cell counts; `cell` is the alias of a row with `day`, `measure` and `rate_day`.
    static func countedOn(_ cell: String) -> String {
        "case \(cell).measure when '\(FigureMeasure.accountEarly.rawValue)' then \(cell).rate_day else \(cell).day end"
    }

    /// A query: the first payment of an account in an environment, as `starts_at`, `transaction_id` and `is_refunded`; no row without one.
    static func firstPayment(of token: String, in environment: Environment) -> String {
        """
        \(payments(
            "p.starts_at, p.transaction_id, p.revoked_share is distinct from 0 as is_refunded", of: token,
            in: "'\(environment.rawValue)'"))
         order by p.starts_at, p.order_id, p.item
         limit 1
        """
    }

    /// A query: payments of the account `k`, in the environment of the order `o`, that are earlier than its transaction `t`.
    private static let earlierPayments = """
        \(payments(of: "k.token", in: "o.environment"))
           and (p.starts_at, p.order_id, p.item) < (t.starts_at, t.order_id, t.item)
        """

    /// A query: the payments of an account in an environment, of the transaction `p`. A purchase that several accounts had is no account's
    /// payment.
    private static func payments(_ columns: String = "", of token: String, in environment: String) -> String {
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
         where l.token = \(token) and l.environment = \(environment) and \(isPayment("p"))
           and not exists (
               select from storehook.account_lines w
                where (w.original_transaction_id, w.bundle_id, w.environment) = (l.original_transaction_id, l.bundle_id, l.environment)
                  and w.token not in (l.token, '\(RecurringPeriods.noAccount)'))
        """
    }
}
