package import Accounts
import AppStorePayloads
package import Base
public import Foundation
public import Postgres
public import Subscriptions

/// Reads the ledger for people and the commands that answer them.
public struct LedgerReader: Sendable {
    let pool: PostgresPool
    let policy: StatusPolicy

    /// A reader. States that it derives itself follow the operator's policy, as the worker's do.
    public init(_ pool: PostgresPool, policy: StatusPolicy = StatusPolicy()) {
        self.pool = pool
        self.policy = policy
    }

    /// The subscriptions of this original transaction, at an instant: more than one only where two apps or environments
    /// share the number.
    package func status(of originalTransactionID: String, at instant: Timestamp) async throws -> [SubscriptionView] {
        try await pool.query(
            PostgresQuery(
                "ledger.status",
                """
                select environment, bundle_id, original_transaction_id, product_id, subscription_group_id,
                       app_account_token, status, expires_at, will_renew, renewal_product_id, in_trial,
                       price_increase_pending, access_until, period_ends_at, grace_ends_at,
                       expiration_intent, basis, since, transaction_id, ownership, offer_type, offer_id, price, currency,
                       storefront, app_transaction_id, renewal_price, renewal_currency
                  from storehook.status_at(\(PostgresTimestamp(instant)))
                 where original_transaction_id = \(originalTransactionID)
                 order by environment, bundle_id
                """)
        ).map { try SubscriptionView($0) }
    }

    /// Which of some apps hold these purchases: renewal info names no app.
    public func apps(
        holding purchases: Set<UnattributedPurchase>, among apps: [String]
    ) async throws -> [UnattributedPurchase: Set<String>] {
        let purchases = Array(purchases)
        let rows = try await pool.query(
            PostgresQuery(
                "ledger.apps_holding",
                """
                select p.environment, p.original_transaction_id, p.bundle_id
                  from unnest(\(purchases.map(\.environment)), \(purchases.map(\.originalTransactionID)))
                       as wanted (environment, original_transaction_id)
                 cross join unnest(\(apps)) as app (bundle_id)
                  join storehook.purchase_lines p using (original_transaction_id, bundle_id, environment)
                """))
        return try rows.reduce(into: [:]) { found, row in
            let purchase = UnattributedPurchase(
                environment: try row.decode(0), originalTransactionID: try row.decode(1))
            found[purchase, default: []].insert(try row.decode(2))
        }
    }

    /// The approximate number of purchases.
    public func purchaseCount() async throws -> Int64 {
        try await pool.query(
            PostgresQuery("ledger.purchase_count", "select count(*) from storehook.purchase_lines")
        ).one().decode(0)
    }

    /// One notification; nil if it is not recorded.
    public func notification(_ uuid: UUID) async throws -> RecordedNotification? {
        let rows = try await pool.query(
            PostgresQuery(
                "ledger.notification",
                """
                select notification_uuid, type, subtype, environment, bundle_id, original_transaction_id, source, outcome,
                       signed_at, outbox_id, received_at, applied_at
                  from storehook.notifications
                 where notification_uuid = \(uuid)
                """))
        return try rows.first.map { try RecordedNotification($0) }
    }
}

extension SubscriptionView {
    /// Reads a row of `storehook.status_at`.
    init(_ row: PostgresRow) throws {
        self.init(try PurchaseKey(row))
        productID = try row.decode("product_id")
        subscriptionGroupID = try row.decode("subscription_group_id")
        appAccountToken = UniqueIdentifier(accountToken: try row.decode("app_account_token"))
        status = try row.decode("status", among: SubscriptionStatus.self)
        expiresAt = Timestamp(try row.decode("expires_at", as: PostgresTimestamp.self))
        willRenew = try row.decode("will_renew")
        renewalProductID = try row.decode("renewal_product_id")
        inTrial = try row.decode("in_trial")
        priceIncreasePending = try row.decode("price_increase_pending")
        accessUntil = try row.decode("access_until", as: PostgresTimestamp?.self).map(Timestamp.init)
        periodEndsAt = try row.decode("period_ends_at", as: PostgresTimestamp?.self).map(Timestamp.init)
        graceEndsAt = try row.decode("grace_ends_at", as: PostgresTimestamp?.self).map(Timestamp.init)
        expirationIntent = try row.decode("expiration_intent", as: Int16?.self).map(Int.init)
        basis = try row.decode("basis", among: StatusAtInstant.Basis.self)
        since = try row.decode("since", as: PostgresTimestamp?.self).map(Timestamp.init)
        transactionID = try row.decode("transaction_id")
        ownership = try row.decode("ownership")
        offerType = try row.decode("offer_type", as: Int16?.self).map(Int.init)
        offerID = try row.decode("offer_id")
        price = Money(try row.decode("price"), in: try row.decode("currency"))
        storefront = try row.decode("storefront")
        appTransactionID = try row.decode("app_transaction_id")
        renewalPrice = Money(try row.decode("renewal_price"), in: try row.decode("renewal_currency"))
    }
}
