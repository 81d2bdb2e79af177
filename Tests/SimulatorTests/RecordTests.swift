import AppStorePayloads
import Base
import Stories
import Testing

@testable import Simulation

@Suite("The records that are signed")
struct RecordTests {
    private static let notifications =
        Story.catalogue.flatMap { $0.performed().notifications }
        + Simulation(seed: 11, notifications: 500, endingAt: 1_790_000_000_000).deliveries.map(\.notification)

    @Test("of transactions are read back as they were meant")
    func transactions() throws {
        for record in Self.notifications.compactMap(\.transaction) {
            var expected = TransactionPayload(
                transactionId: record.transactionId, originalTransactionId: record.originalTransactionId,
                bundleId: record.bundleId, signedDate: Timestamp(millisecondsSince1970: record.signedDate))
            expected.environment = Environment(rawValue: record.environment)
            expected.webOrderLineItemId = record.webOrderLineItemId
            expected.productId = record.productId
            expected.subscriptionGroupIdentifier = record.subscriptionGroupIdentifier
            expected.purchaseDate = Timestamp(millisecondsSince1970: record.purchaseDate)
            expected.originalPurchaseDate = Timestamp(millisecondsSince1970: record.originalPurchaseDate)
            expected.expiresDate = record.expiresDate.map(Timestamp.init(millisecondsSince1970:))
            expected.quantity = Int64(record.quantity)
            expected.type = ProductType(rawValue: record.type)
            expected.inAppOwnershipType = OwnershipType(rawValue: record.inAppOwnershipType)
            expected.appAccountToken = record.appAccountToken.flatMap { UniqueIdentifier($0) }
            expected.revocationDate = record.revocationDate.map(Timestamp.init(millisecondsSince1970:))
            expected.revocationReason = record.revocationReason.map { RevocationReason(rawValue: Int64($0)) }
            expected.revocationType = record.revocationType.map(RevocationType.init(rawValue:))
            expected.revocationPercentage = record.revocationPercentage
            expected.isUpgraded = record.isUpgraded ? true : nil
            expected.offerType = record.offer.map { OfferType(rawValue: Int64($0.kind.rawValue)) }
            expected.offerIdentifier = record.offer?.identifier
            expected.offerDiscountType = record.offer.map { OfferDiscountType(rawValue: $0.discountType) }
            expected.offerPeriod = record.offer?.period
            expected.transactionReason = TransactionReason(rawValue: record.transactionReason)
            expected.storefront = record.storefront
            expected.storefrontId = record.storefrontId
            expected.price = record.price
            expected.currency = record.currency
            expected.appTransactionId = record.appTransactionId
            expected.json = record.json
            #expect(try TransactionPayload.decode(record.json) == expected)
        }
    }

    @Test("of renewals are read back as they were meant")
    func renewals() throws {
        for record in Self.notifications.compactMap(\.renewal) {
            var expected = RenewalInfoPayload(
                originalTransactionId: record.originalTransactionId,
                signedDate: Timestamp(millisecondsSince1970: record.signedDate))
            expected.environment = Environment(rawValue: record.environment)
            expected.productId = record.productId
            expected.autoRenewProductId = record.autoRenewProductId
            expected.autoRenewStatus = AutoRenewStatus(rawValue: Int64(record.autoRenewStatus))
            expected.renewalDate = record.renewalDate.map(Timestamp.init(millisecondsSince1970:))
            expected.expirationIntent = record.expirationIntent.map { ExpirationIntent(rawValue: Int64($0)) }
            expected.isInBillingRetryPeriod = record.isInBillingRetryPeriod
            if case .date(let date) = record.gracePeriodExpiresDate {
                expected.gracePeriodExpiresDate = Timestamp(millisecondsSince1970: date)
            }
            expected.priceIncreaseStatus = record.priceIncreaseStatus.map { PriceIncreaseStatus(rawValue: Int64($0)) }
            expected.renewalPrice = record.renewalPrice
            expected.currency = record.currency
            expected.offerType = record.offer.map { OfferType(rawValue: Int64($0.kind.rawValue)) }
            expected.offerIdentifier = record.offer?.identifier
            expected.offerDiscountType = record.offer.map { OfferDiscountType(rawValue: $0.discountType) }
            expected.offerPeriod = record.offer?.period
            expected.eligibleWinBackOfferIds = record.eligibleWinBackOfferIds
            expected.recentSubscriptionStartDate = record.recentSubscriptionStartDate.map(
                Timestamp.init(millisecondsSince1970:))
            expected.appAccountToken = record.appAccountToken.flatMap { UniqueIdentifier($0) }
            expected.appTransactionId = record.appTransactionId
            expected.json = record.json
            #expect(try RenewalInfoPayload.decode(record.json) == expected)
        }
    }

    @Test("of notifications are read back as they were meant")
    func outer() throws {
        for notification in Self.notifications {
            let json = notification.json { String(decoding: $0, as: UTF8.self) }
            let payload = try NotificationPayload.decode(json)
            #expect(payload.notificationType.rawValue == notification.type)
            #expect(payload.subtype?.rawValue == notification.subtype)
            #expect(payload.notificationUUID == notification.uuid)
            #expect(payload.version == "2.0")
            #expect(payload.signedDate.millisecondsSince1970 == notification.signedDate)
            switch (payload.part, notification.part) {
            case (.data(let read), .data(let meant)):
                #expect(read.environment?.rawValue == meant.environment)
                #expect(read.bundleId == meant.bundleId)
                #expect(read.appAppleId == meant.appAppleId)
                #expect(read.bundleVersion == meant.bundleVersion)
                #expect(read.status?.rawValue == meant.status.map(Int64.init))
                #expect(read.consumptionRequestReason?.rawValue == meant.consumptionRequestReason)
                #expect(read.signedTransactionInfo.map { Array($0.utf8) } == meant.transaction?.json)
                #expect(read.signedRenewalInfo.map { Array($0.utf8) } == meant.renewal?.json)
            case (.summary(let read), .summary(let meant)):
                #expect(read.requestIdentifier == meant.requestIdentifier)
                #expect(read.environment?.rawValue == meant.environment)
                #expect(read.appAppleId == meant.appAppleId)
                #expect(read.bundleId == meant.bundleId)
                #expect(read.productId == meant.productId)
                #expect(read.storefrontCountryCodes == meant.storefrontCountryCodes)
                #expect(read.succeededCount == meant.succeededCount)
                #expect(read.failedCount == meant.failedCount)
            case (.externalPurchaseToken(let read), .externalPurchaseToken(let meant)):
                #expect(read.externalPurchaseId == meant.externalPurchaseId)
                #expect(read.tokenCreationDate?.millisecondsSince1970 == meant.tokenCreationDate)
                #expect(read.appAppleId == meant.appAppleId)
                #expect(read.bundleId == meant.bundleId)
                #expect(read.tokenExpirationDate?.millisecondsSince1970 == meant.tokenExpirationDate)
                #expect(read.tokenType == meant.tokenType)
            case (.appData(let read), .appData(let meant)):
                #expect(read.environment?.rawValue == meant.environment)
                #expect(read.bundleId == meant.bundleId)
                #expect(read.appAppleId == meant.appAppleId)
                let inner = try AppTransactionPayload.decode(Array((read.signedAppTransactionInfo ?? "").utf8))
                #expect(inner.bundleId == meant.appTransaction.bundleId)
                #expect(inner.appTransactionId == meant.appTransaction.appTransactionId)
                #expect(inner.effectiveSignedDate?.millisecondsSince1970 == meant.appTransaction.signedDate)
            default: Issue.record("\(notification.type) was read as another part")
            }
        }
    }

    @Test("write a null grace date as null, which reads as no date")
    func nullGraceDate() throws {
        let performance = try #require(Story.named("grace-with-null-date-expires")).performed()
        let failed = try #require(performance.notifications.first { $0.type == "DID_FAIL_TO_RENEW" }?.renewal)
        #expect(String(decoding: failed.json, as: UTF8.self).contains("\"gracePeriodExpiresDate\":null"))
        #expect(try RenewalInfoPayload.decode(failed.json).gracePeriodExpiresDate == nil)
    }
}
