import AppStorePayloads
import Base
import Simulation
import Stories
import Subscriptions
import Testing

@Suite("What is true right after a notification of each type and subtype")
struct NotificationTypeTests {
    /// What must be true of the line at the instant the notification was signed.
    enum Meaning: Sendable {
        /// About a subscription: one of these statuses, and auto-renew as told; nil where either will do.
        case subscription([SubscriptionStatus], renews: Bool? = nil)
        /// About something bought, subscription or not; the notification says whether it was taken back.
        case purchase(revoked: Bool, [SubscriptionStatus])
        /// About no purchase.
        case nothing
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let meaning: Meaning
        var testDescription: String { name }

        init(_ name: String, _ meaning: Meaning) {
            self.name = name
            self.meaning = meaning
        }
    }

    static let rows = [
        Row("SUBSCRIBED/INITIAL_BUY", .subscription([.active, .trial], renews: true)),
        Row("SUBSCRIBED/RESUBSCRIBE", .subscription([.active], renews: true)),
        // Charged early, the trial is still running.
        Row("DID_RENEW/-", .subscription([.active, .trial], renews: true)),
        Row("DID_RENEW/BILLING_RECOVERY", .subscription([.active], renews: true)),
        Row("DID_CHANGE_RENEWAL_PREF/UPGRADE", .subscription([.active], renews: true)),
        Row("DID_CHANGE_RENEWAL_PREF/DOWNGRADE", .subscription([.active], renews: true)),
        Row("DID_CHANGE_RENEWAL_PREF/-", .subscription([.active], renews: true)),
        Row("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", .subscription([.active], renews: true)),
        // Switched off during billing retry, it ends the retries.
        Row("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", .subscription([.cancelled, .expired], renews: false)),
        Row("DID_CHANGE_RENEWAL_STATUS/-", .subscription([.active, .cancelled])),
        Row("OFFER_REDEEMED/-", .subscription([.active], renews: true)),
        Row("OFFER_REDEEMED/UPGRADE", .subscription([.active], renews: true)),
        Row("OFFER_REDEEMED/DOWNGRADE", .subscription([.active], renews: true)),
        Row("OFFER_REDEEMED/INITIAL_BUY", .subscription([.active], renews: true)),
        Row("OFFER_REDEEMED/RESUBSCRIBE", .subscription([.active], renews: true)),
        Row("DID_FAIL_TO_RENEW/GRACE_PERIOD", .subscription([.gracePeriod], renews: true)),
        Row("DID_FAIL_TO_RENEW/-", .subscription([.billingRetry], renews: true)),
        Row("GRACE_PERIOD_EXPIRED/-", .subscription([.billingRetry], renews: true)),
        Row("EXPIRED/VOLUNTARY", .subscription([.expired], renews: false)),
        Row("EXPIRED/BILLING_RETRY", .subscription([.expired], renews: false)),
        Row("EXPIRED/PRICE_INCREASE", .subscription([.expired], renews: false)),
        Row("EXPIRED/PRODUCT_NOT_FOR_SALE", .subscription([.expired], renews: false)),
        Row("EXPIRED/-", .subscription([.expired], renews: false)),
        Row("PRICE_INCREASE/PENDING", .subscription([.active], renews: true)),
        Row("PRICE_INCREASE/ACCEPTED", .subscription([.active], renews: true)),
        Row("PRICE_CHANGE/-", .subscription([.active], renews: true)),
        Row("METADATA_UPDATE/-", .subscription([.active], renews: true)),
        Row("MIGRATION/-", .subscription([.active], renews: true)),
        Row("MIGRATE/-", .subscription([.active], renews: true)),
        // Active where an old period was refunded.
        Row("REFUND/-", .purchase(revoked: true, [.revoked, .active])),
        Row("REFUND_DECLINED/-", .purchase(revoked: false, [.active])),
        Row("REFUND_REVERSED/-", .purchase(revoked: false, [.active, .cancelled, .expired])),
        Row("REVOKE/-", .purchase(revoked: true, [.revoked])),
        Row("CONSUMPTION_REQUEST/-", .purchase(revoked: false, [.active])),
        Row("RENEWAL_EXTENDED/-", .subscription([.active, .cancelled])),
        Row("RENEWAL_EXTENSION/SUMMARY", .nothing),
        Row("RENEWAL_EXTENSION/FAILURE", .subscription([.active], renews: true)),
        Row("ONE_TIME_CHARGE/-", .purchase(revoked: false, [])),
        Row("EXTERNAL_PURCHASE_TOKEN/CREATED", .nothing),
        Row("EXTERNAL_PURCHASE_TOKEN/ACTIVE_TOKEN_REMINDER", .nothing),
        Row("EXTERNAL_PURCHASE_TOKEN/UNREPORTED", .nothing),
        Row("RESCIND_CONSENT/-", .nothing),
        Row("TEST/-", .nothing),
        Row("SUBSCRIPTION_PAUSED/BY_CUSTOMER", .subscription([.active], renews: true)),
        Row("RENEWAL_MOOD_CHANGED/-", .subscription([.cancelled], renews: false)),
    ]

    @Test("is what it says, in every story that tells it", arguments: rows)
    func means(_ row: Row) throws {
        var told = 0
        for story in try HeardStory.catalogue() {
            for notification in story.heard where notification.name == row.name {
                told += 1
                let known = story.known(at: notification.signedAt)
                check(row.meaning, notification, known, story.name)
                // The story goes on to say what must be true some time after it.
                #expect(
                    story.performance.expectations.contains {
                        $0.instant > notification.signedAt.millisecondsSince1970
                    }, "\(story.name)")
            }
        }
        #expect(told > 0, "no story tells \(row.name)")
    }

    @Test("covers every type and subtype that a story tells")
    func complete() throws {
        let told = Set(try HeardStory.catalogue().flatMap(\.heard).map(\.name))
        #expect(told.subtracting(Self.rows.map(\.name)) == [])
    }

    private func check(_ meaning: Meaning, _ heard: HeardNotification, _ known: KnownFacts, _ story: String) {
        let state = heard.purchase.flatMap { known.state(of: $0) }
        let now = state?.status(at: heard.signedAt)
        let status = now?.status
        switch meaning {
        case .subscription(let statuses, let renews):
            #expect(status.map(statuses.contains) == true, "\(story): \(heard.name) is \(String(describing: status))")
            if let renews { #expect(now?.willRenew == renews, "\(story): \(heard.name)") }
        case .purchase(let revoked, let statuses):
            #expect((heard.transaction?.revokedAt != nil) == revoked, "\(story): \(heard.name)")
            if let status {
                #expect(statuses.contains(status), "\(story): \(heard.name) is \(status)")
            } else {
                #expect(heard.transaction?.kind != .autoRenewableSubscription, "\(story): \(heard.name)")
            }
        case .nothing:
            #expect(
                heard.purchase == nil && heard.transaction == nil && heard.renewal == nil, "\(story): \(heard.name)")
        }
    }

    @Test(
        "an end says why",
        arguments: [
            ("VOLUNTARY", 1), ("BILLING_RETRY", 2), ("PRICE_INCREASE", 3), ("PRODUCT_NOT_FOR_SALE", 4), ("-", 5),
        ])
    func reasons(_ subtype: String, _ intent: Int) throws {
        for story in try HeardStory.catalogue() where story.name != "ended-without-intent" {
            for notification in story.heard where notification.name == "EXPIRED/\(subtype)" {
                let known = story.known(at: notification.signedAt)
                let purchase = try #require(notification.purchase)
                let state = try #require(known.state(of: purchase))
                #expect(state.status(at: notification.signedAt)?.expirationIntent == intent, "\(story.name)")
            }
        }
    }
}
