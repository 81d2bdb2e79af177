public import AppStorePayloads
public import Foundation
import Postgres

/// A row of `storehook.status_at`: one auto-renewable line at an instant.
public struct PurchaseStatus: Sendable, Hashable {
    /// Apple's name of the environment.
    public var environment: String
    /// The app.
    public var bundleID: String
    /// The line.
    public var originalTransactionID: String
    /// The product of the deciding period.
    public var productID: String?
    /// The subscription group.
    public var subscriptionGroupID: String?
    /// The account.
    public var appAccountToken: UUID?
    /// `trial`, `active`, `cancelled`, `grace_period`, `billing_retry`, `expired` or `revoked`.
    public var status: String
    /// Whether the customer may use it.
    public var access: Bool
    /// When what was paid for ends, or ended.
    public var expiresAt: Timestamp
    /// Whether auto-renew is on; nil where Apple never said.
    public var willRenew: Bool?
    /// What it renews to.
    public var renewalProductID: String?
    /// Whether the deciding period is a free trial.
    public var inTrial: Bool
    /// Whether the customer has yet to agree to a higher price.
    public var priceIncreasePending: Bool
    /// What Apple would call it, 1 to 5.
    public var appleStatus: Int
    /// Until when access lasts: beyond `expiresAt` in a grace period.
    public var accessUntil: Timestamp?

    init(_ row: PostgresRow) throws {
        environment = try row.decode("environment")
        bundleID = try row.decode("bundle_id")
        originalTransactionID = try row.decode("original_transaction_id")
        productID = try row.decode("product_id")
        subscriptionGroupID = try row.decode("subscription_group_id")
        appAccountToken = try row.decode("app_account_token")
        status = try row.decode("status")
        access = try row.decode("access")
        expiresAt = Timestamp(try row.decode("expires_at", as: PostgresTimestamp.self))
        willRenew = try row.decode("will_renew")
        renewalProductID = try row.decode("renewal_product_id")
        inTrial = try row.decode("in_trial")
        priceIncreasePending = try row.decode("price_increase_pending")
        appleStatus = Int(try row.decode("apple_status", as: Int16.self))
        accessUntil = try row.decode("access_until", as: PostgresTimestamp?.self).map(Timestamp.init)
    }
}
