package import Accounts
import AppStorePayloads
import Postgres
package import Subscriptions

extension AccountStore {
    /// What was had under one of Apple's introductory offers on subscriptions: any period of theirs, refunded ones included. What
    /// another member of the family pays for does not count.
    ///
    /// One indexed statement, which reads the transactions of these purchases.
    package func introductoryPeriods(of purchases: [PurchaseKey]) async throws -> [SubscribedProduct] {
        try await pool.query(
            PostgresQuery(
                "accounts.introductory",
                """
                select distinct t.bundle_id, t.product_id, t.subscription_group_id as introductory_group
                  from unnest(
                       \(purchases.map(\.originalTransactionID)), \(purchases.map(\.bundleID)),
                       \(purchases.map(\.environment)))
                       as purchase (original_transaction_id, bundle_id, environment)
                  join storehook.transactions t using (original_transaction_id, bundle_id, environment)
                 where t.offer_type = \(Int16(OfferType.introductory.rawValue))
                   -- Old payloads do not say it.
                   and coalesce(t.ownership, 'PURCHASED') = 'PURCHASED'
                """)
        ).map { row in
            SubscribedProduct(
                try row.decode("product_id", as: String?.self), of: try row.decode("bundle_id"),
                inGroup: try row.decode("introductory_group", as: String?.self))
        }
    }
}
