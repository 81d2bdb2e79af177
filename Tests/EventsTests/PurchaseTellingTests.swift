import AppStorePayloads
import Base
import Events
import Subscriptions
import Testing

@Suite("Events of what was bought once")
struct PurchaseTellingTests {
    private static let key = PurchaseKey(environment: "Production", bundleID: "app", originalTransactionID: "1")

    private static func bought(
        revoked: Timestamp? = nil, share: Int64? = nil, reason: RevocationReason? = nil, family: Bool = false,
        product: String = "pass",
        signed: Timestamp
    ) throws -> OneTimePurchase {
        try #require(
            OneTimePurchase(
                PurchaseFacts(transactions: [
                    TransactionFact(
                        transactionID: "1", productID: product, kind: .nonConsumable,
                        ownership: family ? "FAMILY_SHARED" : "PURCHASED", purchasedAt: day(0), revokedAt: revoked,
                        revocationPercentage: share, revocationReason: reason, signedAt: signed, digest: [1])
                ])))
    }

    private static func told(
        _ told: OneTimePurchase?, _ value: OneTimePurchase, at now: Timestamp, isFill: Bool = false
    ) -> [EventDraft] {
        OneTimePurchaseEvents.events(
            told, value, of: key, account: nil, evidence: [Evidence(.client, asOf: now.adding(seconds: -1))], at: now,
            isFill: isFill)
    }

    @Test("it is completed, refunded and given back, each once, whatever says so again")
    func each() throws {
        let (bought, refunded) = (
            try Self.bought(signed: day(0)),
            try Self.bought(revoked: day(3), share: 40_000, reason: .other, signed: day(3))
        )
        let first = Self.told(nil, bought, at: day(0, seconds: 5))
        #expect(first.map(\.words) == ["completed"] && first.first?.instant == day(0))
        #expect(first.first?.subject == .oneTime(bought, previous: nil))
        #expect(Self.told(bought, bought, at: day(1)).isEmpty)
        let second = Self.told(bought, refunded, at: day(3, seconds: 5))
        #expect(second.map(\.words) == ["refunded"] && second.first?.instant == day(3))
        #expect(second.first?.content.contains(#""revokedShare":40000,"revokedReason":"other""#) == true)
        #expect(first.first?.content.contains(#""revokedShare":0,"revokedReason":null"#) == true)
        // That Apple gives another reason, or one at all, is no other refund.
        let renamed = try Self.bought(revoked: day(3), share: 40_000, reason: .appIssue, signed: day(3))
        #expect(Self.told(refunded, renamed, at: day(4)).isEmpty)
        #expect(Self.told(refunded, refunded, at: day(4)).isEmpty)
        #expect(Self.told(refunded, bought, at: day(5)).map(\.words) == ["refund_reversed"])
    }

    @Test("what is paid for again is a completion of its own, a second credit or a purchase after a refund")
    func again() throws {
        func value(_ facts: [TransactionFact]) throws -> OneTimePurchase {
            try #require(OneTimePurchase(PurchaseFacts(transactions: facts)))
        }
        func fact(
            _ id: String, _ kind: ProductType, at bought: Int64, revoked: Int64? = nil, digest: UInt8
        ) -> TransactionFact {
            TransactionFact(
                transactionID: id, productID: "once", kind: kind, ownership: "PURCHASED", purchasedAt: day(bought),
                revokedAt: revoked.map { day($0) }, originalPurchasedAt: day(bought), price: 1000,
                signedAt: day(revoked ?? bought), digest: [digest])
        }
        let one = fact("1", .consumable, at: 0, digest: 1)
        let two = fact("2", .consumable, at: 2, digest: 2)
        let back = fact("2", .consumable, at: 2, revoked: 4, digest: 3)
        let second = try Self.told(value([one]), value([one, two]), at: day(2, seconds: 5))
        #expect(second.map(\.words) == ["completed"] && second.first?.instant == day(2))
        #expect(
            try Self.told(value([one, two]), value([one, two, back]), at: day(4, seconds: 5)).map(\.words)
                == ["refunded"])
        let refunded = [
            fact("1", .nonConsumable, at: 0, digest: 1), fact("1", .nonConsumable, at: 0, revoked: 3, digest: 2),
        ]
        let again = try Self.told(
            value(refunded), value(refunded + [fact("2", .nonConsumable, at: 5, digest: 3)]), at: day(5, seconds: 5))
        #expect(again.map(\.words) == ["completed"] && again.first?.instant == day(5))
    }

    @Test("a refund of another share takes the place of the one that was told, and so does another product")
    func corrected() throws {
        let (bought, refunded) = (
            try Self.bought(signed: day(0)), try Self.bought(revoked: day(3), share: 40_000, signed: day(3))
        )
        let more = try Self.bought(revoked: day(4), signed: day(4))
        #expect(Self.told(refunded, more, at: day(4, seconds: 1)).map(\.words) == ["refunded (correction)"])
        let other = try Self.bought(product: "other", signed: day(1))
        #expect(Self.told(bought, other, at: day(0, seconds: 9)).map(\.words) == ["completed (correction)"])
    }

    @Test("what is heard of first when it is refunded is told whole, but by a first fill only as it stands")
    func refundedFirst() throws {
        let refunded = try Self.bought(revoked: day(3), signed: day(3))
        #expect(Self.told(nil, refunded, at: day(3, seconds: 1)).map(\.words) == ["completed late", "refunded"])
        #expect(Self.told(nil, refunded, at: day(9), isFill: true).map(\.words) == ["refunded late"])
        let bought = try Self.bought(signed: day(0))
        #expect(Self.told(nil, bought, at: day(9), isFill: true).map(\.words) == ["completed late"])
    }

    @Test("that it is another's is told to both, once, and to nobody but the former owner where it is free")
    func moved() throws {
        let bought = try Self.bought(signed: day(0))
        let (anna, ben) = (UniqueIdentifier(high: 1, low: 1), UniqueIdentifier(high: 1, low: 2))
        func told(from former: UniqueIdentifier?, to account: UniqueIdentifier?) -> [EventDraft] {
            OneTimePurchaseEvents.events(
                bought, bought, of: Self.key, account: account, from: former,
                evidence: [Evidence(.staff, asOf: day(2))], at: day(2))
        }
        let events = told(from: anna, to: ben)
        #expect(events.map(\.words) == ["transferred", "transferred"])
        #expect(events.map(\.account) == [anna, ben])
        #expect(events.allSatisfy { $0.move == EventDraft.Move(from: anna, to: ben) && $0.cause == .staff })
        #expect(told(from: anna, to: nil).map(\.account) == [anna])
        #expect(told(from: anna, to: anna).isEmpty && told(from: nil, to: ben).isEmpty)
    }

    @Test("what the family no longer shares is no refund")
    func family() throws {
        let shared = try Self.bought(family: true, signed: day(0))
        let gone = try Self.bought(revoked: day(2), family: true, signed: day(2))
        #expect(Self.told(shared, gone, at: day(2, seconds: 1)).map(\.words) == ["revoked"])
    }
}
