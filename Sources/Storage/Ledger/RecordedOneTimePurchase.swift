public import AppStorePayloads
public import Foundation
package import Postgres
public import Subscriptions

/// A row of `storehook.one_time_purchases`: something bought once.
public struct RecordedOneTimePurchase: Sendable, Hashable {
    /// The purchase.
    public var purchase: PurchaseKey
    /// What was bought.
    public var kind: OneTimePurchase.Kind
    /// The product.
    public var productID: String?
    /// `PURCHASED`, `FAMILY_SHARED`, …, as Apple spells it.
    public var ownership: String?
    /// The account.
    public var appAccountToken: UUID?
    /// The transaction that speaks of it, the latest-signed.
    public var transactionID: String
    /// When it was bought first.
    public var purchasedAt: Timestamp
    /// Its end, where Apple names one.
    public var expiresAt: Timestamp?
    /// When it was refunded, or family sharing ended; nil while it stands.
    public var revokedAt: Timestamp?
    /// How many were bought.
    public var quantity: Int64
    /// How much of it was taken back, in thousandths of a percent.
    public var revokedShare: Int64

    /// Reads a row.
    package init(_ row: PostgresRow) throws {
        purchase = PurchaseKey(
            environment: try row.decode("environment"), bundleID: try row.decode("bundle_id"),
            originalTransactionID: try row.decode("original_transaction_id"))
        kind = try row.decode("kind", among: OneTimePurchase.Kind.self)
        productID = try row.decode("product_id")
        ownership = try row.decode("ownership")
        appAccountToken = try row.decode("app_account_token")
        transactionID = try row.decode("transaction_id")
        purchasedAt = Timestamp(try row.decode("purchased_at", as: PostgresTimestamp.self))
        expiresAt = try row.decode("expires_at", as: PostgresTimestamp?.self).map(Timestamp.init)
        revokedAt = try row.decode("revoked_at", as: PostgresTimestamp?.self).map(Timestamp.init)
        quantity = try row.decode("quantity")
        revokedShare = try row.decode("revoked_share")
    }
    /// What it is, as it is derived.
    package var value: OneTimePurchase {
        OneTimePurchase(
            kind: kind, productID: productID, ownership: ownership,
            appAccountToken: appAccountToken.map { UniqueIdentifier($0) }, transactionID: transactionID,
            purchasedAt: purchasedAt, expiresAt: expiresAt, revokedAt: revokedAt, quantity: quantity,
            revokedShare: revokedShare)
    }
}
