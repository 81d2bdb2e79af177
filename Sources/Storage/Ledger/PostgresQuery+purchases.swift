import Postgres
import Subscriptions

extension PostgresQuery {
    /// Makes sure that each line has a row, and locks it. `where false` updates nothing and locks all the same
    /// (PostgreSQL, INSERT, "ON CONFLICT DO UPDATE"); the statements after this one see what other workers committed.
    static func lock(_ lines: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "ledger.lock",
            """
            insert into storehook.purchase_lines as known (original_transaction_id, bundle_id, environment)
            select * from unnest(
                \(lines.map(\.originalTransactionID)), \(lines.map(\.bundleID)), \(lines.map(\.environment)))
            on conflict (original_transaction_id, bundle_id, environment) do update
               set environment = known.environment where false
            """)
    }

    /// Each line's reportedStatus and renewal info.
    static func knownRenewals(of lines: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "ledger.known_renewals",
            """
            select key.n, line.apple_status, line.apple_status_signed_at,
                   r.renewal_product_id, r.auto_renew, r.renews_at, r.expiration_intent, r.in_billing_retry,
                   r.grace_expires_at, r.price_increase_status, r.app_account_token, r.signed_at, r.digest
              from unnest(\(lines.map(\.environment)), \(lines.map(\.bundleID)), \(lines.map(\.originalTransactionID)))
                   with ordinality as key (environment, bundle_id, original_transaction_id, n)
              join storehook.purchase_lines line using (environment, bundle_id, original_transaction_id)
              left join storehook.renewals r using (environment, bundle_id, original_transaction_id)
            """)
    }

    /// Each line's transactions.
    static func knownTransactions(of lines: [PurchaseKey]) -> PostgresQuery {
        PostgresQuery(
            "ledger.known_transactions",
            """
            select key.n, t.transaction_id, t.web_order_line_item_id, t.product_id, t.subscription_group_id, t.kind,
                   t.ownership, t.purchased_at, t.expires_at, t.revoked_at, t.is_upgraded, t.reason,
                   t.offer_discount_type, t.app_account_token, t.signed_at, t.digest
              from unnest(\(lines.map(\.environment)), \(lines.map(\.bundleID)), \(lines.map(\.originalTransactionID)))
                   with ordinality as key (environment, bundle_id, original_transaction_id, n)
              join storehook.transactions t using (environment, bundle_id, original_transaction_id)
            """)
    }
}
