import AppStorePayloads
import Foundation
import Postgres

extension PostgresQuery {
    /// Transactions that are news, whole. The rule of ``SignedFact/supersedes(_:)`` stands here once more, so that the
    /// table itself never goes back to an older record.
    static func upsertTransactions(_ histories: [LineHistory]) -> PostgresQuery? {
        let news = histories.flatMap { history in
            history.newTransactions.sorted { $0.key < $1.key }.map(\.value)
        }
        let signed = news.compactMap(\.transaction)
        guard !news.isEmpty else { return nil }
        let records = signed.map(\.payload)
        return PostgresQuery(
            "ledger.upsert_transactions",
            """
            insert into storehook.transactions as known
                   (environment, bundle_id, transaction_id, original_transaction_id, web_order_line_item_id, product_id,
                    subscription_group_id, kind, ownership, purchased_at, expires_at, revoked_at, is_upgraded, reason,
                    offer_discount_type, app_account_token, price, currency, quantity, signed_at, digest,
                    notification_uuid, payload)
            select * from unnest(
                \(news.map(\.environment)), \(news.map(\.bundleID)), \(records.map(\.transactionId)),
                \(records.map(\.originalTransactionId)), \(records.map(\.webOrderLineItemId)),
                \(records.map(\.productId)), \(records.map(\.subscriptionGroupIdentifier)),
                \(records.map(\.type?.rawValue)), \(records.map(\.inAppOwnershipType?.rawValue)),
                \(records.map { $0.purchaseDate.map(PostgresTimestamp.init) }),
                \(records.map { $0.expiresDate.map(PostgresTimestamp.init) }),
                \(records.map { $0.revocationDate.map(PostgresTimestamp.init) }),
                \(records.map { $0.isUpgraded ?? false }), \(records.map(\.transactionReason?.rawValue)),
                \(records.map(\.offerDiscountType?.rawValue)), \(records.map { $0.appAccountToken.map(UUID.init) }),
                \(records.map(\.price)), \(records.map(\.currency)),
                \(records.map { $0.quantity.map { Int32(clamping: $0) } }),
                \(records.map { PostgresTimestamp($0.signedDate) }), \(signed.map(\.digest)),
                \(news.map { UUID($0.notification.uuid) }), \(records.map { PostgresJSON($0.json) }))
            on conflict (environment, bundle_id, transaction_id) do update
               set original_transaction_id = excluded.original_transaction_id,
                   web_order_line_item_id = excluded.web_order_line_item_id,
                   product_id = excluded.product_id, subscription_group_id = excluded.subscription_group_id,
                   kind = excluded.kind, ownership = excluded.ownership, purchased_at = excluded.purchased_at,
                   expires_at = excluded.expires_at, revoked_at = excluded.revoked_at,
                   is_upgraded = excluded.is_upgraded, reason = excluded.reason,
                   offer_discount_type = excluded.offer_discount_type,
                   app_account_token = excluded.app_account_token, price = excluded.price,
                   currency = excluded.currency, quantity = excluded.quantity, signed_at = excluded.signed_at,
                   digest = excluded.digest, notification_uuid = excluded.notification_uuid,
                   payload = excluded.payload
             where (excluded.signed_at, excluded.digest) > (known.signed_at, known.digest)
            """)
    }

    /// Renewal info that is news, whole; see ``upsertTransactions(_:)``.
    static func upsertRenewals(_ histories: [LineHistory]) -> PostgresQuery? {
        let news = histories.compactMap(\.newRenewal)
        let signed = news.compactMap(\.renewal)
        guard !news.isEmpty else { return nil }
        let records = signed.map(\.payload)
        return PostgresQuery(
            "ledger.upsert_renewals",
            """
            insert into storehook.renewals as known
                   (environment, bundle_id, original_transaction_id, product_id, renewal_product_id, auto_renew,
                    renews_at, expiration_intent, in_billing_retry, grace_expires_at, price_increase_status,
                    app_account_token, signed_at, digest, notification_uuid, payload)
            select * from unnest(
                \(news.map(\.environment)), \(news.map(\.bundleID)), \(records.map(\.originalTransactionId)),
                \(records.map(\.productId)), \(records.map(\.autoRenewProductId)),
                \(records.map { $0.autoRenewStatus.map { $0 == .on } }),
                \(records.map { $0.renewalDate.map(PostgresTimestamp.init) }),
                \(records.map { $0.expirationIntent.map { Int16(clamping: $0.rawValue) } }),
                \(records.map(\.isInBillingRetryPeriod)),
                \(records.map { $0.gracePeriodExpiresDate.map(PostgresTimestamp.init) }),
                \(records.map { $0.priceIncreaseStatus.map { Int16(clamping: $0.rawValue) } }),
                \(records.map { $0.appAccountToken.map(UUID.init) }),
                \(records.map { PostgresTimestamp($0.signedDate) }), \(signed.map(\.digest)),
                \(news.map { UUID($0.notification.uuid) }), \(records.map { PostgresJSON($0.json) }))
            on conflict (environment, bundle_id, original_transaction_id) do update
               set product_id = excluded.product_id, renewal_product_id = excluded.renewal_product_id,
                   auto_renew = excluded.auto_renew, renews_at = excluded.renews_at,
                   expiration_intent = excluded.expiration_intent, in_billing_retry = excluded.in_billing_retry,
                   grace_expires_at = excluded.grace_expires_at,
                   price_increase_status = excluded.price_increase_status,
                   app_account_token = excluded.app_account_token, signed_at = excluded.signed_at,
                   digest = excluded.digest, notification_uuid = excluded.notification_uuid,
                   payload = excluded.payload
             where (excluded.signed_at, excluded.digest) > (known.signed_at, known.digest)
            """)
    }
}
