package import AppStorePayloads
package import Base
import Crypto
import Postgres
package import PurchaseStore
import Synchronization

/// What is sold in these tests.
package enum Shop {
    /// The app.
    package static let app = "com.example.app"

    /// Its catalog.
    /// - Parameters:
    ///   - zone: where the days begin.
    ///   - premium: the tier of the product `premium`.
    package static func catalog(zone: String = "UTC", premium: String = "max") -> String {
        """
        app: com.example.app
        time_zone: \(zone)
        tiers:
          - id: free
          - id: pro
          - id: max
        products:
          - {id: basic, product_id: basic, tier: pro, period: month}
          - {id: yearly, product_id: yearly, tier: pro, period: year}
          - {id: premium, product_id: premium, tier: \(premium), period: month}
        """
    }

    /// Midnight, UTC, of a day counted from 2026-01-01.
    package static func day(_ day: Int64, hours: Int64 = 0) -> Timestamp {
        Timestamp(millisecondsSince1970: 1_767_225_600_000).adding(days: day).adding(seconds: hours * 3600)
    }

    private static let made = Atomic<UInt64>(0)

    /// A notification about a transaction.
    /// - Parameters:
    ///   - original: the purchase.
    ///   - id: the transaction; that of the purchase by default.
    ///   - signed: when both were signed; at its beginning by default.
    ///   - status: what Apple reports.
    ///   - renewalInfo: what Apple signed beside it.
    package static func entry(
        _ original: String, _ id: String? = nil, at start: Timestamp, days: Int64? = 30, product: String = "basic",
        kind: ProductType = .autoRenewableSubscription, renewal: Bool = false, price: Int64? = 9_990,
        first: Timestamp? = nil, signed: Timestamp? = nil, app: String = Shop.app, environment: String = "Production",
        status: AppleStatus? = nil, renewalInfo: RenewalInfoPayload? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        let number = made.add(1, ordering: .relaxed).newValue
        let signed = signed ?? start
        let id = id ?? original
        var payload = TransactionPayload(
            transactionId: id, originalTransactionId: original, bundleId: app, signedDate: signed,
            webOrderLineItemId: days == nil ? nil : id, productId: product,
            subscriptionGroupIdentifier: days == nil ? nil : "group", purchaseDate: start,
            originalPurchaseDate: first ?? start, expiresDate: days.map { start.adding(days: $0) }, quantity: 1,
            type: kind, inAppOwnershipType: .purchased, transactionReason: renewal ? .renewal : .purchase,
            json: Array("{}".utf8))
        (payload.price, payload.currency, payload.storefront) = (price, "USD", "USA")
        change(&payload)
        payload.json = Array("{\"number\":\(number)}".utf8)
        let uuid = UniqueIdentifier(high: 1, low: number)
        return LedgerEntry(
            outboxID: Int64(number),
            receivedAt: PostgresTimestamp(millisecondsSince1970: signed.millisecondsSince1970 + 1_000),
            environment: environment, bundleID: app,
            notification: NotificationPayload(
                notificationType: renewal ? .didRenew : .subscribed, notificationUUID: uuid.description, uuid: uuid,
                signedDate: signed, part: .data(NotificationData(status: status))),
            transaction: .init(payload, digest: Array(SHA256.hash(data: payload.json))),
            renewal: renewalInfo.map { info in
                var info = info
                info.json = Array("{\"renewal\":\(number)}".utf8)
                return .init(info, digest: Array(SHA256.hash(data: info.json)))
            })
    }

    /// A consumable.
    package static func coins(_ id: String, at start: Timestamp) -> LedgerEntry {
        entry(id, at: start, days: nil, product: "coins", kind: .consumable)
    }
}
