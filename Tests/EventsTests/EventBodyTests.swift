import Accounts
import AppStorePayloads
import Base
import Events
import Foundation
import Subscriptions
import Testing

/// Names that others build on.
@Suite("The body of an event")
struct EventBodyTests {
    private static func object(_ event: Event, after previous: Int64? = nil) throws -> [String: Any] {
        let text = event.json(previousSequence: previous)
        let sent = try JSONDecoder().decode(SentValue.self, from: Data(text.utf8))
        #expect(sent.differences(from: event.draft.kind.payload.body) == [])
        return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test("it is what the interface says, of a subscription")
    func subscription() throws {
        var listener = Listener.subscriber()
        listener.hear(
            .of("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", period("1", 0...30), signed: day(2), on: false),
            at: day(2, seconds: 1))
        var draft = try #require(listener.events.last)
        draft.terms = ["1": SaleTerms(price: 9990, currency: "USD", storefront: "USA")]
        let event = Event(draft, account: "ann", version: 12, sequence: 5)
        #expect(
            event.json(previousSequence: 4) == """
                {"type":"subscription.cancelled","timestamp":"2025-06-17T00:00:00Z","data":{"app":"app",\
                "environment":"Production","account":"ann","appAccountToken":null,\
                "version":12,"sequence":5,"previousSequence":4,\
                "subscription":{"originalTransactionId":"1","productId":"basic","status":"cancelled","access":true,\
                "expiresAt":"2025-07-15T00:00:00Z","accessUntil":"2025-07-15T00:00:00Z","inTrial":false,\
                "willRenew":false,"renewalProductId":"basic","priceIncreasePending":false,"expirationIntent":null,\
                "appAccountToken":null,"price":9990,"currency":"USD","storefront":"USA","offer":null,"quantity":1},\
                "previous":{"originalTransactionId":"1","productId":"basic",\
                "status":"active","access":true,"expiresAt":"2025-07-15T00:00:00Z",\
                "accessUntil":"2025-07-15T00:00:00Z","inTrial":false,"willRenew":true,"renewalProductId":"basic",\
                "priceIncreasePending":false,"expirationIntent":null,"appAccountToken":null,"price":9990,"currency":"USD",\
                "storefront":"USA","offer":null,"quantity":1},"cause":{"kind":"notification","type":"DID_CHANGE_RENEWAL_STATUS","subtype":"AUTO_RENEW_DISABLED",\
                "uuid":"00000000-0000-0007-0000-01977b2f8000"},"late":false,"correction":false}}
                """)
        // What is stored of an event gives the same.
        #expect(
            Event.json(
                kind: draft.kind.rawValue, instant: draft.instant, bundleID: draft.bundleID,
                environment: draft.environment, account: "ann", token: nil, version: 12, sequence: 5,
                previousSequence: 4,
                content: draft.content) == event.json(previousSequence: 4))
    }

    @Test("it is what the interface says, of what was bought once, of an account, and of the rest")
    func others() throws {
        let key = PurchaseKey(environment: "Sandbox", bundleID: "app", originalTransactionID: "9")
        let bought = try #require(
            OneTimePurchase(
                PurchaseFacts(transactions: [
                    TransactionFact(
                        transactionID: "9", productID: "coins", kind: .consumable, purchasedAt: day(0), quantity: 3,
                        signedAt: day(0), digest: [1])
                ])))
        let completed = OneTimePurchaseEvents.events(
            nil, bought, of: key, account: nil, evidence: [Evidence(.clock, asOf: day(0))], at: day(0))
        let first = try Self.object(Event(try #require(completed.first), account: nil, version: nil, sequence: 1))
        let data = try #require(first["data"] as? [String: Any])
        #expect(first["type"] as? String == "purchase.completed")
        #expect(data["account"] is NSNull && data["version"] is NSNull && data["previousSequence"] is NSNull)
        #expect((data["purchase"] as? [String: Any])?["quantity"] as? Int == 3)
        #expect((data["cause"] as? [String: Any])?["kind"] as? String == "clock")

        let phase = AccountPhase(
            startsAt: day(0), status: .active, tier: "pro", source: .grant, expiresAt: day(9))
        let draft = EventDraft(
            .accountAccessChanged, environment: "Production", bundleID: nil, account: UniqueIdentifier(high: 1, low: 1),
            subject: .account(phase, previous: nil), cause: .grant, instant: day(0))
        let second = try Self.object(Event(draft, account: "ann", version: 2, sequence: 7), after: 6)
        let access = try #require((second["data"] as? [String: Any])?["access"] as? [String: Any])
        #expect(access["tier"] as? String == "pro" && access["status"] as? String == "active")
        #expect((second["data"] as? [String: Any])?["app"] is NSNull)

        let request = EventDraft.consumptionRequested(
            key, of: nil, transactionID: "9", reason: "LEGAL", cause: .clock, at: day(0), now: day(1))
        let third = try Self.object(Event(request, account: nil, version: nil, sequence: 2))
        #expect(third["type"] as? String == "consumption.requested" && request.isLate)
        let test = try Self.object(
            Event(
                .test(environment: "Production", bundleID: "app", at: day(0)), account: nil, version: nil, sequence: 1))
        #expect(test["type"] as? String == "test")
    }

    @Test("whatever a customer is called, the body is JSON that says so")
    func escaped() throws {
        for name in ["a\"b\\c", "line\nbreak\u{1}\t", "每月 🙂", "\u{7f}\u{2028}", ""] {
            let event = Event(
                .test(environment: name, bundleID: name, at: day(0)), account: name, version: 1, sequence: 1)
            let data = try #require(try Self.object(event)["data"] as? [String: Any])
            #expect(data["account"] as? String == name && data["app"] as? String == name)
        }
    }

    @Test("the kinds have the names that receivers were promised")
    func names() {
        let promised = [
            "started", "trial_started", "converted", "renewed", "recovered", "cancelled", "uncancelled",
            "grace_period_started",
            "billing_retry_started", "expired", "product_changed", "renewal_product_changed", "extended", "refunded",
            "refund_reversed", "revoked", "price_increase_pending", "price_increase_agreed", "expiring_soon",
            "transferred",
        ].map { "subscription.\($0)" }
        let others = [
            "purchase.completed", "purchase.refunded", "account.access_changed", "consumption.requested",
            "consumption.answered", "test",
        ]
        let added = ["purchase.refund_reversed", "purchase.revoked", "purchase.transferred"]
        #expect(Set(EventKind.allCases.map(\.rawValue)) == Set(promised + others + added))
    }
}
