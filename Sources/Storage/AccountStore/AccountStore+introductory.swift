package import Accounts
import AppStorePayloads
import Postgres
package import Subscriptions

/// What the records of a subscription say about Apple's introductory offers.
package struct IntroductoryUse: Sendable, Hashable {
    /// The subscription group that Apple signed last; nil where it is not known.
    package var groupID: String?
    /// What was had under such an offer: any period, refunded ones included. What another member of the family pays for does not count.
    package var taken: [SubscribedProduct] = []
}

extension AccountStore {
    /// What the records say of these subscriptions, in their order.
    ///
    /// One indexed statement, which reads the transactions of these purchases.
    package func introductoryUse(of purchases: [PurchaseKey]) async throws -> [IntroductoryUse] {
        var uses = purchases.map { _ in IntroductoryUse() }
        let rows = try await pool.query(
            PostgresQuery(
                "accounts.introductory",
                """
                select purchase.place, s.subscription_group_id, t.bundle_id, t.product_id, t.introductory_group
                  from unnest(
                       \(purchases.map(\.originalTransactionID)), \(purchases.map(\.bundleID)),
                       \(purchases.map(\.environment)))
                       with ordinality as purchase (original_transaction_id, bundle_id, environment, place)
                  left join storehook.subscriptions s using (original_transaction_id, bundle_id, environment)
                  left join lateral (
                       select distinct t.bundle_id, t.product_id, t.subscription_group_id as introductory_group
                         from storehook.transactions t
                        where t.original_transaction_id = purchase.original_transaction_id
                          and t.bundle_id = purchase.bundle_id and t.environment = purchase.environment
                          and t.offer_type = \(Int16(OfferType.introductory.rawValue))
                          -- Old payloads do not say it.
                          and coalesce(t.ownership, 'PURCHASED') = 'PURCHASED') t on true
                """))
        for row in rows {
            let place = Int(try row.decode("place", as: Int64.self)) - 1
            uses[place].groupID = try row.decode("subscription_group_id")
            guard let bundleID = try row.decode("bundle_id", as: String?.self) else { continue }
            uses[place].taken.append(
                SubscribedProduct(
                    try row.decode("product_id", as: String?.self), of: bundleID,
                    inGroup: try row.decode("introductory_group", as: String?.self)))
        }
        return uses
    }
}
