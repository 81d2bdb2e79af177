import Base
import Foundation
import Postgres
import Subscriptions

extension PostgresQuery {
    /// All recorded bindings of a purchase, joined to `l`, which names it.
    static let bindings = """
        left join lateral (
               select array_agg(b.id) as binding_ids, array_agg(b.kind) as binding_kinds,
                      array_agg(b.token) as binding_tokens, array_agg(b.at) as binding_instants
                 from storehook.purchase_bindings b
                where b.original_transaction_id = l.original_transaction_id and b.bundle_id = l.bundle_id
                  and b.environment = l.environment
              ) b on true
        """

    /// The stored state of a purchase, joined to `l`, which names it.
    static let purchase = """
        left join storehook.subscriptions s
               on s.original_transaction_id = l.original_transaction_id and s.bundle_id = l.bundle_id
              and s.environment = l.environment
        left join storehook.one_time_purchases o
               on o.original_transaction_id = l.original_transaction_id and o.bundle_id = l.bundle_id
              and o.environment = l.environment
        """

    /// The columns that ``AccountStore/load(_:for:whole:_:)`` reads of a purchase.
    static let purchaseColumns = """
        s.earlier_phases, s.phase_starts, s.phase_status, s.phase_product, s.phase_expires, s.phase_period_ends,
        s.phase_grace_ends, s.phase_trial, s.phase_will_renew, s.phase_renewal_product, s.phase_account, s.phase_origin,
        s.stretches, o.kind, o.product_id, o.purchased_at, o.expires_at, o.revoked_at, o.gaps,
        o.earlier_accounts, o.app_account_token, b.binding_ids, b.binding_kinds, b.binding_tokens, b.binding_instants
        """

    /// The purchases of accounts.
    /// - Parameter derived: purchases whose subscriptions are not read; their columns are null.
    static func lines(of tokens: [UUID], but derived: [PurchaseKey] = []) -> PostgresQuery {
        PostgresQuery(
            "accounts.lines",
            """
            select l.token, l.environment, l.bundle_id, l.original_transaction_id, \(unescaped: purchaseColumns)
              from storehook.account_lines l
              left join lateral (
                   select * from storehook.subscriptions s
                    where s.original_transaction_id = l.original_transaction_id and s.bundle_id = l.bundle_id
                      and s.environment = l.environment
                      and (l.original_transaction_id, l.bundle_id, l.environment) not in (
                          select * from unnest(
                              \(derived.map(\.originalTransactionID)), \(derived.map(\.bundleID)),
                              \(derived.map(\.environment))))
                   ) s on true
              left join storehook.one_time_purchases o
                   on o.original_transaction_id = l.original_transaction_id and o.bundle_id = l.bundle_id
                  and o.environment = l.environment
            \(unescaped: bindings)
             where l.token = any(\(tokens))
            """)
    }

    /// Likewise, of purchases given with their accounts: for where `account_lines` is not kept yet.
    static func lines(of tokens: [UUID], _ purchases: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "accounts.unlinked_lines",
            """
            select l.token, l.environment, l.bundle_id, l.original_transaction_id, \(unescaped: purchaseColumns)
              from unnest(
                   \(tokens), \(purchases.map(\.environment)), \(purchases.map(\.bundleID)),
                   \(purchases.map(\.originalTransactionID)))
                   as l (token, environment, bundle_id, original_transaction_id)
            \(unescaped: purchase)
            \(unescaped: bindings)
            """)
    }

    /// `changed` and `holder`, as the first parts of a WITH: purchases, the accounts that Apple ever signed into them,
    /// and those that a binding names.
    /// - Parameter derived: subscriptions that need not be read.
    static func holders(
        of purchases: [PurchaseKey], having derived: DerivedSubscriptions = DerivedSubscriptions()
    ) -> PostgresQuery {
        let signed = derived.signedAccounts(of: purchases)
        return """
            changed as (
                select * from unnest(
                    \(purchases.map(\.originalTransactionID)), \(purchases.map(\.bundleID)),
                    \(purchases.map(\.environment)), \(purchases.map { derived[$0] == nil }),
                    \(purchases.map { derived[$0].map { $0.earlierPhases > 0 } ?? true }))
                    as purchase (original_transaction_id, bundle_id, environment, is_read, has_history)
            ), named as (
                select t.token, c.environment, c.original_transaction_id, c.bundle_id
                  from changed c join storehook.subscriptions s using (original_transaction_id, bundle_id, environment)
                 cross join unnest(s.phase_account) as t (token)
                 where c.is_read and t.token is not null
                union
                select t.token, c.environment, c.original_transaction_id, c.bundle_id
                  from changed c
                  join storehook.subscription_history h using (original_transaction_id, bundle_id, environment)
                 cross join unnest(h.phase_account) as t (token)
                 where c.has_history and t.token is not null
                union
                select * from unnest(
                    \(signed.map { UUID($0.account) }), \(signed.map(\.purchase.environment)),
                    \(signed.map(\.purchase.originalTransactionID)), \(signed.map(\.purchase.bundleID)))
                union
                select t.token, c.environment, c.original_transaction_id, c.bundle_id
                  from changed c
                  join storehook.one_time_purchases o using (original_transaction_id, bundle_id, environment)
                 cross join lateral (
                        select o.app_account_token as token
                        union all
                        select split_part(e.account, '/', 2)::uuid
                          from unnest(string_to_array(o.earlier_accounts, ' ')) e (account)
                       ) t
                 where t.token is not null
                union
                select b.token, c.environment, c.original_transaction_id, c.bundle_id
                  from changed c
                  join storehook.purchase_bindings b using (original_transaction_id, bundle_id, environment)
            ), holder as (
                -- Stored by earlier releases: the nil UUID names no account.
                select * from named where token <> '00000000-0000-0000-0000-000000000000'
            )
            """
    }

    /// What else accounts' statuses depend on, all of it in Production; and in which environments a status is stored.
    static func about(_ tokens: [UUID]) -> PostgresQuery {
        PostgresQuery(
            "accounts.about",
            """
            with wanted as (
                select a.token, coalesce(a.erased_at, '-infinity') as erased_at
                  from storehook.accounts a where a.token = any(\(tokens))
            )
            select 'act' as what, a.token, 'Production' as environment, a.id, a.at, a.kind, a.tier, a.days,
                   null as product, null::timestamptz as ends_at
              from storehook.staff_acts a join wanted w using (token)
             where a.at > w.erased_at
            union all
            select 'trial', t.token, 'Production', null, t.started_at, null, t.tier, null, t.product, t.ends_at
              from storehook.trials t join wanted w using (token)
            union all
            -- Those of the current catalog also say where their phases begin.
            select 'status', s.token, s.environment, null::bigint,
                   min(coalesce(s.known_from, '4714-11-24 00:00:00 UTC BC')) filter (where s.catalog = c.current_version), null, null,
                   null::integer, null, null::timestamptz
              from storehook.account_status s join wanted w using (token) cross join storehook.catalog_state c
             group by s.token, s.environment
            union all
            select distinct 'erased', w.token, e.environment, null::bigint, w.erased_at, null, null, null::integer, null,
                   null::timestamptz
              from wanted w
             cross join lateral (
                    select 'Production' as environment
                    union select l.environment from storehook.account_lines l where l.token = w.token
                    union select s.environment from storehook.account_status s where s.token = w.token
                   ) e
             where w.erased_at > '-infinity'
            """)
    }

    /// Ended phases from `subscription_history`, in order.
    static func earlierPhases(of purchases: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "accounts.history",
            """
            select h.original_transaction_id, h.bundle_id, h.environment, h.phase_starts, h.phase_status,
                   h.phase_product, h.phase_expires, h.phase_period_ends, h.phase_grace_ends, h.phase_trial,
                   h.phase_will_renew, h.phase_renewal_product, h.phase_account, h.phase_origin
              from unnest(
                   \(purchases.map(\.originalTransactionID)), \(purchases.map(\.bundleID)),
                   \(purchases.map(\.environment)))
                   as purchase (original_transaction_id, bundle_id, environment)
              join storehook.subscription_history h using (original_transaction_id, bundle_id, environment)
             order by h.original_transaction_id, h.bundle_id, h.environment, h.starts_at
            """)
    }
}
