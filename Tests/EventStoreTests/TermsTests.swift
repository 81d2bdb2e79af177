import AccountStore
import AppStorePayloads
import Base
import EventStore
import Events
import Foundation
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

/// What events say of what was paid.
@Suite("Prices in events")
struct TermsTests {
    /// Prices, as an event has them: of the subscription or purchase, of what it was before, and of the transaction.
    private struct Prices: Equatable, CustomStringConvertible {
        var now: Int?
        var before: Int?
        var transaction: Int?
        var description: String { "\(now ?? -9) \(before ?? -9) \(transaction ?? -9)" }
    }

    private static func data(_ event: PlacedEvent) throws -> [String: Any] {
        let body = try JSONSerialization.jsonObject(with: Data(event.json(previousSequence: nil).utf8))
        return try #require((body as? [String: Any])?["data"] as? [String: Any])
    }

    private static func prices(_ event: PlacedEvent) throws -> Prices {
        let data = try data(event)
        func price(_ name: String) -> Int? { (data[name] as? [String: Any])?["price"] as? Int }
        return Prices(
            now: price("subscription") ?? price("purchase"), before: price("previous"),
            transaction: price("transaction"))
    }

    /// Events about purchases, in order, with their prices.
    private static func told(_ site: EventDatabase) async throws -> [String] {
        try await site.feed().filter { $0.kind != "account.access_changed" }.map { "\($0.kind) \(try prices($0))" }
    }

    /// From here on a reader of `transactions` gets another price.
    private static func spoil(_ site: EventDatabase) async throws {
        try await site.pool.query("update storehook.transactions set price = 666, currency = null")
    }

    @Test("a purchase's price, currency, storefront, offer and quantity stand in its event")
    func members() async throws {
        try await EventDatabase.with { site in
            try await site.apply([
                Records.span(
                    purchase(1), Records.now.adding(days: -1)..<Records.now.adding(days: 6), account: token(1),
                    isTrial: true),
                Records.bought(purchase(2), account: token(1)),
            ])
            let events = try await site.feed()
            func part(_ name: String, of kind: String) throws -> [String: Any] {
                let event = try #require(events.first { $0.kind == kind })
                let data = try Self.data(event)
                return try #require(data[name] as? [String: Any])
            }
            let subscription = try part("subscription", of: "subscription.trial_started")
            #expect(subscription["price"] as? Int == 0 && subscription["currency"] as? String == "EUR")
            #expect(subscription["storefront"] as? String == "DEU" && subscription["quantity"] as? Int == 1)
            let offer = try #require(subscription["offer"] as? [String: Any])
            #expect(offer["type"] as? Int == 1 && offer["discountType"] as? String == "FREE_TRIAL")
            #expect(offer["id"] is NSNull)
            let bought = try part("purchase", of: "purchase.completed")
            #expect(bought["price"] as? Int == 1000 && bought["offer"] is NSNull && bought["quantity"] as? Int == 1)
        }
    }

    @Test("of renewals, of what the clock brings and of what was charged ahead it is known without reading it")
    func kept() async throws {
        try await EventDatabase.with { site in
            func renew(_ number: Int, ahead: Int64 = 0, renews: Bool = true) async throws {
                let start = Records.now.adding(days: Int64(number) * 30 - 100)
                let told = start.adding(seconds: 10 - ahead)
                try await site.apply(
                    [
                        Records.span(
                            purchase(1), start..<start.adding(days: 30), account: token(1), number: number,
                            renews: renews, at: told)
                    ], at: told.adding(seconds: 1))
                try await Self.spoil(site)
            }
            try await renew(0)
            try await renew(1, ahead: 40_000)
            try await renew(2, ahead: 40_000)
            try await renew(3, renews: false)
            let told = try await Self.told(site)
            #expect(
                told == [
                    "subscription.started 1000 -9 1000", "subscription.renewed 1000 1000 2000",
                    "subscription.renewed 2000 2000 3000", "subscription.renewed 4000 3000 4000",
                    "subscription.cancelled 4000 4000 -9",
                ])
        }
    }

    /// A trial that ends in some hours, and the charge for what follows.
    private static func convert(_ site: EventDatabase) async throws {
        let end = Records.now.adding(seconds: 7200)
        try await site.apply([
            Records.span(purchase(1), Records.now.adding(days: -7)..<end, account: token(1), isTrial: true)
        ])
        let told = Records.now.adding(seconds: -60)
        try await site.apply(
            [Records.span(purchase(1), end..<end.adding(days: 30), account: token(1), number: 1, at: told)],
            at: told.adding(seconds: 1))
    }

    @Test(
        "a trial's conversion that is charged ahead has the price of what is paid, and so has what is told from then on"
    )
    func conversion() async throws {
        try await EventDatabase.with { site in
            try await Self.convert(site)
            try await Self.spoil(site)
            let end = Records.now.adding(seconds: 7200)
            try await site.apply([
                Records.span(
                    purchase(1), end..<end.adding(days: 30), account: token(1), number: 1, renews: false,
                    at: Records.now.adding(seconds: -10))
            ])
            let told = try await Self.told(site)
            #expect(
                told == [
                    "subscription.trial_started 0 -9 0", "subscription.converted 2000 0 2000",
                    "subscription.cancelled 2000 2000 -9",
                ])
            let data = try Self.data(
                try #require(try await site.feed().first { $0.kind == "subscription.converted" }))
            let subscription = try #require(data["subscription"] as? [String: Any])
            #expect(subscription["offer"] is NSNull && subscription["currency"] as? String == "EUR")
        }
    }

    @Test("a conversion that was reported is reported once, also where an earlier release wrote the row in between")
    func conversionRead() async throws {
        try await EventDatabase.with { site in
            try await Self.convert(site)
            try await Self.forget(site)
            let after = Records.now.adding(seconds: 7300)
            let end = Records.now.adding(seconds: 7200)
            try await site.apply(
                [
                    Records.span(
                        purchase(1), end..<end.adding(days: 30), account: token(1), number: 1, renews: false, at: after)
                ], at: after.adding(seconds: 1))
            let kinds = try await Self.told(site).map { $0.split(separator: " ")[0] }
            #expect(kinds == ["subscription.trial_started", "subscription.converted", "subscription.cancelled"])
        }
    }

    /// What was reported last as an earlier release writes it: nineteen fields behind the version, and no more.
    private static func forget(_ site: EventDatabase) async throws {
        try await site.pool.query(
            "update storehook.purchase_tellings set told = array_to_string((string_to_array(told, '|'))[:20], '|')")
    }

    @Test("what ends by the clock has the price of what ended")
    func clock() async throws {
        try await EventDatabase.with { site in
            let month = Records.now.adding(days: -30)..<Records.now.adding(seconds: -5)
            try await site.apply(
                [Records.span(purchase(1), month, account: token(1), renews: false)],
                at: month.lowerBound.adding(seconds: 11))
            try await Self.spoil(site)
            _ = try await site.runClock()
            let told = try await Self.told(site)
            #expect(told.last == "subscription.expired 1000 1000 -9")
        }
    }

    @Test("where an earlier release wrote what was reported last, it is read once, and kept from then on")
    func read() async throws {
        try await EventDatabase.with { site in
            let month = Records.now.adding(days: -30)..<Records.now.adding(seconds: -5)
            try await site.apply(
                [Records.span(purchase(1), month, account: token(1), renews: false, grace: nil)],
                at: month.lowerBound.adding(seconds: 11))
            try await Self.forget(site)
            _ = try await site.runClock()
            var told = try await Self.told(site)
            #expect(told.last == "subscription.expired 1000 1000 -9")
            try await Self.spoil(site)
            let again = Records.now.adding(seconds: -4)..<Records.now.adding(days: 30)
            try await site.apply([Records.span(purchase(1), again, account: token(1), number: 1, at: again.lowerBound)])
            told = try await Self.told(site)
            #expect(told.last == "subscription.renewed 2000 1000 2000")
        }
    }

    @Test("what was known before there were events has it read")
    func knownBefore() async throws {
        try await EventDatabase.with { site in
            let (ledger, accounts) = (site.ledger, site.accounts)
            let entry = Records.period(purchase(1), from: -10, to: 20, account: token(1))
            try await site.pool.withTransaction { session in
                _ = try accounts.settle(try ledger.apply([entry], session).changes.map(\.key), session)
            }
            try await site.pool.query("update storehook.telling_walks set is_under_way = true, after_key = null")
            while try await site.events.walk(.purchases, site.accounts).taken > 0 {}
            let told = try await Self.told(site)
            #expect(told == ["subscription.started 1000 -9 -9"])
        }
    }

    @Test("a second record of one refund, by another way, tells nothing, in either order", arguments: [false, true])
    func refundTwice(_ isListedFirst: Bool) async throws {
        try await EventDatabase.with { site in
            try await site.apply([Records.period(purchase(1), from: -20, to: 10, account: token(1))])
            func refund(_ source: EvidenceSource) -> LedgerEntry {
                Records.period(
                    purchase(1), from: -20, to: 10, account: token(1), revoked: -1, type: .refund, from: source)
            }
            let posted = refund(.webhook)
            let listed = try #require(refund(.api).transaction)
            let record = LedgerEntry(
                outboxID: 1_000_000, receivedAt: PostgresTimestamp(millisecondsSince1970: 0), source: .api,
                environment: "Production", bundleID: "com.example.app", .transaction(listed))
            for entry in isListedFirst ? [record, posted] : [posted, record] { try await site.apply([entry]) }
            let events = try await site.feed().dropFirst(2)
            #expect(
                events.map(\.kind) == ["subscription.refunded", "subscription.revoked", "account.access_changed"])
            let causes = try events.compactMap { try Self.data($0)["cause"] as? [String: Any] }
            #expect(causes.count == 3)
            #expect(Set(causes.compactMap { $0["uuid"] as? String }).count == 1)
            let uuid = try #require(posted.notification?.uuid.description)
            #expect(causes.allSatisfy { ($0["uuid"] as? String == uuid) != isListedFirst })
        }
    }
}
