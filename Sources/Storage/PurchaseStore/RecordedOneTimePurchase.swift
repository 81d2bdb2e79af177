import AppStorePayloads
import Base
import Foundation
package import Postgres
public import Subscriptions

/// A row of `storehook.one_time_purchases`.
public struct RecordedOneTimePurchase: Sendable, Hashable {
    /// The purchase.
    public var purchase: PurchaseKey
    /// Its state, without its sales.
    public var value: OneTimePurchase

    /// Memberwise.
    init(purchase: PurchaseKey, value: OneTimePurchase) {
        self.purchase = purchase
        self.value = value
    }

    /// Reads a row.
    package init(_ row: PostgresRow) throws {
        purchase = try PurchaseKey(row)
        value = OneTimePurchase(
            kind: try row.decode("kind", among: OneTimePurchase.Kind.self), productID: try row.decode("product_id"),
            ownership: try row.decode("ownership"),
            appAccountToken: UniqueIdentifier(accountToken: try row.decode("app_account_token")),
            transactionID: try row.decode("transaction_id"),
            purchasedAt: Timestamp(try row.decode("purchased_at", as: PostgresTimestamp.self)),
            expiresAt: try row.decode("expires_at", as: PostgresTimestamp?.self).map(Timestamp.init),
            revokedAt: try row.decode("revoked_at", as: PostgresTimestamp?.self).map(Timestamp.init),
            quantity: try row.decode("quantity"), revokedShare: try row.decode("revoked_share"),
            // A release before this column leaves it where it takes a refund back.
            revokedReason: try row.decode("revoked_at", as: PostgresTimestamp?.self) == nil
                ? nil : RevocationReason(stored: try row.decode("revocation_reason")),
            gaps: try OneTimePurchase.Gap.all(of: row))
    }
}
