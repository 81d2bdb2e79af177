import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import Subscriptions
import Synchronization

/// Apple's records of purchases, as the ledger is handed them.
enum Purchases {
    private static let made = Atomic<Int64>(0)
    static let now = Timestamp(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970) * 1000)

    /// One period of a subscription: so many days from now it begins and ends.
    static func period(
        _ key: PurchaseKey, _ product: String, from start: Int64, to end: Int64, account: UniqueIdentifier?,
        number: Int = 0, id: String? = nil, revoked: Int64? = nil, signed: Int64? = nil,
        reason: TransactionReason? = nil,
        renewal: RenewalInfoPayload? = nil, isTrial: Bool = false
    ) -> LedgerEntry {
        entry(
            key, renewal,
            TransactionPayload(
                transactionId: id ?? "\(key.originalTransactionID).\(number)",
                originalTransactionId: key.originalTransactionID, bundleId: key.bundleID,
                signedDate: now.adding(days: signed ?? revoked ?? start), productId: product,
                subscriptionGroupIdentifier: "group",
                purchaseDate: now.adding(days: start), expiresDate: now.adding(days: end), quantity: 1,
                type: .autoRenewableSubscription, inAppOwnershipType: .purchased, appAccountToken: account,
                revocationDate: revoked.map { now.adding(days: $0) },
                offerType: isTrial ? .introductory : nil, offerDiscountType: isTrial ? .freeTrial : nil,
                transactionReason: reason ?? (number == 0 ? .purchase : .renewal), json: Array("{}".utf8)))
    }

    /// What a subscription renews to, signed so many days from now.
    static func renewal(
        _ key: PurchaseKey, _ product: String, to names: String, signed: Int64, account: UniqueIdentifier?
    ) -> RenewalInfoPayload {
        RenewalInfoPayload(
            originalTransactionId: key.originalTransactionID, signedDate: now.adding(days: signed), productId: product,
            autoRenewProductId: names, autoRenewStatus: .on, appAccountToken: account, json: Array("{}".utf8))
    }

    /// A subscription whose transaction lacks its end: renewal info alone says until when it is paid for.
    static func endless(_ key: PurchaseKey, _ product: String, to end: Int64, account: UniqueIdentifier?) -> LedgerEntry
    {
        let signedAt = now.adding(days: -2)
        var said = renewal(key, product, to: product, signed: -2, account: nil)
        said.renewalDate = now.adding(days: end)
        return entry(
            key, said,
            TransactionPayload(
                transactionId: key.originalTransactionID, originalTransactionId: key.originalTransactionID,
                bundleId: key.bundleID, signedDate: signedAt, productId: product, subscriptionGroupIdentifier: "group",
                purchaseDate: signedAt, quantity: 1, type: .autoRenewableSubscription, inAppOwnershipType: .purchased,
                appAccountToken: account, transactionReason: .purchase, json: Array("{}".utf8)), status: .active)
    }

    /// Something bought for good; and the same as another record has it: a copy of it, its refund, or the reversal of that.
    static func forever(
        _ key: PurchaseKey, at start: Int64, account: UniqueIdentifier?, id: String? = nil, revoked: Int64? = nil,
        signed: Int64? = nil
    ) -> LedgerEntry {
        var transaction = once(key, "forever", .nonConsumable, at: start, account: account)
        if let id { transaction.transactionId = id }
        transaction.revocationDate = revoked.map { now.adding(days: $0) }
        if let signed { transaction.signedDate = now.adding(days: signed) }
        return entry(key, nil, transaction)
    }

    /// Something bought once, as Apple signs it.
    static func signedOnce(
        _ key: PurchaseKey, _ product: String, _ type: ProductType, at start: Int64, account: UniqueIdentifier?
    ) -> LedgerEntry {
        entry(key, nil, once(key, product, type, at: start, account: account))
    }

    /// Something bought once, as verifyReceipt tells of it, which says neither what it is nor how long it lasts.
    static func said(
        _ key: PurchaseKey, _ product: String, at start: Int64, account: UniqueIdentifier?
    ) -> LedgerEntry {
        let number = made.add(1, ordering: .relaxed).newValue
        let digest = withUnsafeBytes(of: number.bigEndian, Array.init) + [UInt8](repeating: 8, count: 24)
        return LedgerEntry(
            outboxID: number, receivedAt: PostgresTimestamp(millisecondsSince1970: 0), source: .client,
            environment: key.environment, bundleID: key.bundleID,
            .receiptTransaction(.init(once(key, product, nil, at: start, account: account), digest: digest)))
    }

    private static func once(
        _ key: PurchaseKey, _ product: String, _ type: ProductType?, at start: Int64, account: UniqueIdentifier?
    ) -> TransactionPayload {
        TransactionPayload(
            transactionId: key.originalTransactionID, originalTransactionId: key.originalTransactionID,
            bundleId: key.bundleID, signedDate: now.adding(days: start), productId: product,
            purchaseDate: now.adding(days: start), quantity: 1, type: type,
            inAppOwnershipType: .purchased, appAccountToken: account, json: Array("{}".utf8))
    }

    private static func entry(
        _ key: PurchaseKey, _ renewal: RenewalInfoPayload?, _ transaction: TransactionPayload,
        status: AppleStatus? = nil
    ) -> LedgerEntry {
        let number = made.add(1, ordering: .relaxed).newValue
        let uuid = UniqueIdentifier(high: 0x5155, low: UInt64(number))
        let digest = withUnsafeBytes(of: number.bigEndian, Array.init) + [UInt8](repeating: 7, count: 24)
        return LedgerEntry(
            outboxID: number, receivedAt: PostgresTimestamp(millisecondsSince1970: 0), environment: key.environment,
            bundleID: key.bundleID,
            notification: NotificationPayload(
                notificationType: .didRenew, notificationUUID: uuid.description, uuid: uuid,
                signedDate: transaction.signedDate, part: .data(NotificationData(status: status))),
            transaction: .init(transaction, digest: digest), renewal: renewal.map { .init($0, digest: digest) })
    }

    /// Many purchases of few accounts: with and without tokens, renewed, passed on, refunded, bought for good.
    static func many(_ count: Int, accounts: Int, _ generator: inout some RandomNumberGenerator) -> [LedgerEntry] {
        (0..<count).flatMap { number -> [LedgerEntry] in
            let key = purchase(number)
            var account =
                Int.random(in: 0..<8, using: &generator) == 0
                ? nil : token(Int.random(in: 0..<accounts, using: &generator))
            if Int.random(in: 0..<6, using: &generator) == 0 {
                return [forever(key, at: Int64.random(in: -90...0, using: &generator), account: account)]
            }
            // Apple signs nothing of a period that has not begun, and of no refund that is yet to come.
            let periods = Int.random(in: 1...12, using: &generator)
            var start = -33 * Int64(periods) - Int64.random(in: -30...200, using: &generator)
            return (0..<periods).map { period in
                if Int.random(in: 0..<10, using: &generator) == 0 {
                    account = token(Int.random(in: 0..<accounts, using: &generator))
                }
                if Int.random(in: 0..<6, using: &generator) == 0 { start += 3 }
                defer { start += 30 }
                let product = Shop.products[Int.random(in: 0...1, using: &generator)]
                let isRevoked = Int.random(in: 0..<12, using: &generator) == 0 && start + 11 <= 0
                return self.period(
                    key, product, from: start, to: start + 30, account: account, number: period,
                    revoked: isRevoked ? start + 11 : nil)
            }
        }
    }
}

extension OwnershipType {
    static let purchased = OwnershipType(rawValue: "PURCHASED")
}
