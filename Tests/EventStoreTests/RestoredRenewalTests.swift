import AppStorePayloads
import Base
import EventStore
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

/// A renewal that was charged ahead and reported, counted for nothing by the next message, and counts again by a third one.
@Suite("A renewal that later evidence restores")
struct RestoredRenewalTests {
    private static let charged = Records.now
    private static let begins = Records.now.adding(seconds: 36_000)

    /// - Parameter word: the product that Apple's renewal info names, and its end; nil for no renewal info.
    private static func message(
        _ product: String, _ period: Range<Timestamp>, number: Int,
        naming word: (product: String, end: Timestamp)? = nil, at signedAt: Timestamp
    ) throws -> LedgerEntry {
        let entry = Records.span(purchase(1), period, account: nil, number: number, at: signedAt)
        var (transaction, renewal) = (entry.transaction, entry.renewal)
        var notification = try #require(entry.notification)
        notification.part = .data(NotificationData(status: .active))
        transaction?.payload.productId = product
        renewal?.payload.productId = word?.product
        renewal?.payload.autoRenewProductId = word?.product
        renewal?.payload.renewalDate = word?.end
        return LedgerEntry(
            outboxID: entry.outboxID, receivedAt: entry.receivedAt, environment: purchase(1).environment,
            bundleID: purchase(1).bundleID, notification: notification, transaction: transaction,
            renewal: word == nil ? nil : renewal)
    }

    @Test("is reported once: that it was is kept with what was reported last", arguments: [false, true])
    func once(_ hasTerms: Bool) async throws {
        try await EventDatabase.with(catalog: false) { site in
            func renewals() async throws -> Int64 {
                try await site.value(
                    """
                    select count(*) from storehook.events
                     where kind = 'subscription.renewed' and content like '%"10001.1"%'
                    """)
            }
            let period = Self.begins..<Self.begins.adding(days: 30)
            try await site.apply(
                [Self.message("basic", period, number: 1, at: Self.charged)], at: Self.charged.adding(seconds: 1))
            let reported = try await renewals()
            #expect(reported == 1)
            if !hasTerms {
                try await site.pool.query(
                    """
                    update storehook.purchase_tellings
                       set told = array_to_string((string_to_array(told, '|'))[:20], '|')
                    """)
            }
            let said = Self.charged.adding(seconds: 60)
            try await site.apply(
                [
                    Self.message(
                        "basic", period, number: 1, naming: ("premium", Self.begins.adding(days: 7)), at: said)
                ], at: said.adding(seconds: 1))
            #expect(
                try await site.value("select told like '%|t10001.1' from storehook.purchase_tellings", as: Bool.self))
            let former = Self.begins.adding(days: -30)..<Self.begins
            try await site.apply(
                [Self.message("premium", former, number: 0, at: former.lowerBound)], at: said.adding(seconds: 60))
            #expect(try await renewals() == reported)
        }
    }
}
