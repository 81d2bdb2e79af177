import AppStorePayloads
public import Base
public import Foundation
import Postgres
public import Subscriptions

/// A row of `storehook.status_at`: one subscription at an instant.
public struct PurchaseStatus: Sendable, Hashable {
    /// Apple's name of the environment.
    public var environment: String
    /// The app.
    public var bundleID: String
    /// The purchase.
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
    /// Apple's number for the status, 1 to 5.
    public var appleStatus: Int
    /// Until when access lasts: beyond `expiresAt` in a grace period.
    public var accessUntil: Timestamp?
    /// When the deciding period itself ends, or ended.
    public var periodEndsAt: Timestamp?
    /// When grace ends; nil outside of it.
    public var graceEndsAt: Timestamp?
    /// Why it ended, or will, 1 to 5.
    public var expirationIntent: Int?
    /// The basis of the status: `records`, `renewal_info` or `reported_status`.
    public var basis: String
    /// Since when the status holds.
    public var since: Timestamp?
    /// The transaction of the deciding period; nil for a period whose transaction never arrived.
    public var transactionID: String?
    /// `PURCHASED`, `FAMILY_SHARED`, …, as Apple spells it.
    public var ownership: String?
    /// The offer of the deciding period: 1 introductory, 2 promotional, 3 code, 4 win-back.
    public var offerType: Int?
    /// Which offer.
    public var offerID: String?
    /// What the deciding period cost.
    public var price: Money?
    /// The country of the App Store it was bought in.
    public var storefront: String?
    /// The customer's own app transaction.
    public var appTransactionID: String?
    /// What the coming renewal will cost.
    public var renewalPrice: Money?

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
        periodEndsAt = try row.decode("period_ends_at", as: PostgresTimestamp?.self).map(Timestamp.init)
        graceEndsAt = try row.decode("grace_ends_at", as: PostgresTimestamp?.self).map(Timestamp.init)
        expirationIntent = try row.decode("expiration_intent", as: Int16?.self).map(Int.init)
        basis = try row.decode("basis")
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

extension Money {
    /// Nil where either part is missing.
    init?(_ milliunits: Int64?, in currency: String?) {
        guard let milliunits, let currency else { return nil }
        self.init(milliunits: milliunits, currency: currency)
    }
}
