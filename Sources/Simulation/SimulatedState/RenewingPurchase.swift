import AppStorePayloads
import Base
import Crypto
import Postgres
public import PurchaseStore

/// A monthly subscription that always renews, for any number of periods: what Apple signs for each period, as entries
/// for the ledger.
public struct RenewingPurchase: Sendable {
    private let number: Int
    /// The number of the next period, from 0.
    public private(set) var period = 0

    /// A purchase; the number makes it another one.
    public init(_ number: Int) { self.number = number }

    /// What identifies it.
    public var originalTransactionID: String { "\(3_000_000_000_000_000 + number)" }

    /// Its next period, as it begins.
    public mutating func next() -> LedgerEntry {
        defer { period += 1 }
        // January 2026; long before that for the first of very many periods.
        let begins = Timestamp(millisecondsSince1970: 1_767_225_600_000).adding(days: Int64(30 * (period - 2000)))
        let ends = begins.adding(days: 30)
        let signed = begins.adding(seconds: 30)
        let uuid = UniqueIdentifier(high: UInt64(number) << 32, low: UInt64(period))
        let account = UniqueIdentifier(high: 7, low: UInt64(number))
        let transaction = TransactionPayload(
            transactionId: "\(originalTransactionID).\(period)", originalTransactionId: originalTransactionID,
            bundleId: Self.bundleID, signedDate: signed, environment: .production,
            webOrderLineItemId: "\(originalTransactionID).\(period)", productId: "monthly",
            subscriptionGroupIdentifier: "group", purchaseDate: begins, expiresDate: ends, quantity: 1,
            type: .autoRenewableSubscription, inAppOwnershipType: .purchased, appAccountToken: account,
            transactionReason: period == 0 ? .purchase : .renewal, storefront: "USA", price: 9990, currency: "USD",
            json: Self.text)
        let renewal = RenewalInfoPayload(
            originalTransactionId: originalTransactionID, signedDate: signed, environment: .production,
            productId: "monthly", autoRenewProductId: "monthly", autoRenewStatus: .on, renewalDate: ends,
            renewalPrice: 9990, currency: "USD", json: Self.text)
        return LedgerEntry(
            outboxID: Int64(number) << 20 + Int64(period), receivedAt: PostgresTimestamp(signed),
            environment: "Production", bundleID: Self.bundleID,
            notification: NotificationPayload(
                notificationType: period == 0 ? .subscribed : .didRenew, notificationUUID: uuid.description, uuid: uuid,
                signedDate: signed, part: .data(NotificationData(status: .active))),
            transaction: .init(transaction, digest: Self.digest(of: uuid, "transaction")),
            renewal: .init(renewal, digest: Self.digest(of: uuid, "renewal")))
    }

    private static let bundleID = "com.example.renewing"

    /// About as long as Apple's.
    private static let text = Array("{\"filling\":\"\(String(repeating: "x", count: 700))\"}".utf8)

    private static func digest(of uuid: UniqueIdentifier, _ what: String) -> [UInt8] {
        Array(SHA256.hash(data: Array("\(uuid) \(what)".utf8)))
    }
}
