import AppStorePayloads
import Base
import Subscriptions
import TestSupport
import Testing

/// A transaction of something bought once; signed when it was bought by default.
private func once(
    _ id: String, _ kind: ProductType = .nonConsumable, at bought: Int64, original: Int64? = 0, price: Int64? = 9990,
    item: String? = nil, revoked: Timestamp? = nil, share: Int64? = nil, quantity: Int64? = 1, signed: Timestamp? = nil,
    digest number: UInt8 = 0, family: Bool = false
) -> TransactionFact {
    TransactionFact(
        transactionID: id, webOrderLineItemID: item, productID: "once", kind: kind,
        ownership: family ? "FAMILY_SHARED" : "PURCHASED", purchasedAt: day(bought), revokedAt: revoked,
        quantity: quantity, revocationPercentage: share, originalPurchasedAt: original.map { day($0) }, price: price,
        signedAt: signed ?? day(bought), digest: digest(number))
}

@Suite("Something bought once")
struct OneTimeTests {
    /// The purchase by these records, the same in any order.
    private func purchase(_ facts: [TransactionFact]) throws -> OneTimePurchase {
        let value = try #require(PurchaseState(PurchaseFacts(transactions: facts)).oneTime)
        #expect(PurchaseState(PurchaseFacts(transactions: facts.reversed())).oneTime == value)
        return value
    }

    @Test("was refunded when it was first, whatever later record says so again")
    func refundedTwice() throws {
        var facts = [
            once("1", at: 0), once("1", at: 0, revoked: day(10), signed: day(11), digest: 1),
            once("1", at: 0, revoked: day(12), signed: day(13), digest: 2),
        ]
        #expect(try purchase(facts).revokedAt == day(10))
        facts.append(once("1", at: 0, signed: day(20), digest: 3))
        #expect(try purchase(facts).gaps == [.init(from: day(10), until: day(20))])
        facts.append(once("1", at: 0, revoked: day(30), signed: day(30), digest: 4))
        #expect(try purchase(facts).revokedAt == day(30))
    }

    @Test("is the first account's from the beginning, and another one's from the signature that names it")
    func accounts() throws {
        let (ann, bob) = (UniqueIdentifier(high: 1, low: 1), UniqueIdentifier(high: 2, low: 2))
        var facts = [once("1", at: 0)]
        for (place, account) in [nil, ann, ann, bob, nil, ann].enumerated() {
            var record = once("1", at: 0, signed: day(Int64(place + 1)), digest: UInt8(place + 1))
            record.appAccountToken = account
            facts.append(record)
        }
        let bought = try purchase(facts)
        #expect(bought.appAccountToken == ann)
        #expect(bought.earlierAccounts == [.init(ann, until: day(4)), .init(bob, until: day(6))])
        #expect(try purchase(Array(facts.prefix(4))).earlierAccounts == [])
    }

    @Test("comes back with its copies where a reversal names the original alone, and the refund stays in its past")
    func reversal() throws {
        let refund = day(10)
        var facts = [
            once("1", at: 0), once("2", at: 5, digest: 1),
            once("1", at: 0, revoked: refund, signed: day(11), digest: 2),
            once("2", at: 5, revoked: refund, signed: day(11), digest: 3),
        ]
        let refunded = try purchase(facts)
        #expect(refunded.revokedAt == refund && refunded.revokedShare == 100_000 && refunded.gaps == [])
        facts.append(once("1", at: 0, signed: day(20), digest: 4))
        let restored = try purchase(facts)
        #expect(restored.revokedAt == nil && restored.revokedShare == 0)
        #expect(restored.gaps == [.init(from: refund, until: day(20))])
        #expect(restored.isRevoked(at: day(15)) && !restored.isRevoked(at: day(9)) && !restored.isRevoked(at: day(20)))
        #expect(restored.sales.count == 1 && restored.sales[0].revokedAt == nil)
        // Apple signs the copy as it was, and that is the refund which was reversed.
        facts.append(once("2", at: 5, revoked: refund, signed: day(21), digest: 5))
        #expect(try purchase(facts).revokedAt == nil)
        // A refund after the reversal is another one.
        facts.append(once("2", at: 5, revoked: day(30), signed: day(30), digest: 6))
        #expect(try purchase(facts).revokedAt == day(30))
        // So is one that both report after the reversal, dated before it: it was refunded all the time.
        let again =
            facts.prefix(5) + [
                once("2", at: 5, signed: day(20), digest: 7),
                once("1", at: 0, revoked: day(18), signed: day(21), digest: 8),
                once("2", at: 5, revoked: day(18), signed: day(21), digest: 9),
            ]
        #expect(try purchase(Array(again)).revokedAt == day(10))
        #expect(try purchase(again + [once("3", at: 40, original: 40)]).sales.map(\.transactionID) == ["1", "3"])
        // A copy that was never refunded reverses nothing.
        let never = [once("1", at: 0, revoked: refund, signed: day(11), digest: 1), once("2", at: 5, signed: day(12))]
        #expect(try purchase(never).revokedAt == refund)
    }

    @Test("is bought again after a refund, and a restore is not that")
    func again() throws {
        let refunded = once("1", at: 0, item: "a", revoked: day(10), signed: day(11), digest: 1)
        let again = once("2", at: 20, original: 20, item: "b")
        let value = try purchase([refunded, again])
        #expect(
            value.revokedAt == nil && value.gaps == [.init(from: day(10), until: day(20), isBoughtAgain: true)])
        #expect(value.sales.map(\.transactionID) == ["1", "2"])
        #expect(value.sales.map(\.revokedAt) == [day(10), nil] && value.sales.map(\.revokedShare) == [100_000, 0])
        #expect(PurchaseFacts(transactions: [refunded, again]).anomalies == [])
        let copies: [TransactionFact] = [
            // Its own words date it before the refund.
            once("2", at: 20, original: 0, item: "b"), once("2", at: 20, original: 10),
            // Of the same paid item.
            once("2", at: 20, original: 20, item: "a"),
            // It carries the refund.
            once("2", at: 20, original: 20, revoked: day(10), signed: day(21)),
            // Bought before the refund.
            once("2", at: 9, original: 9, item: "b", signed: day(12)),
        ]
        for copy in copies {
            let value = try purchase([refunded, copy])
            #expect(value.revokedAt == day(10) && value.sales.count == 1, "\(copy)")
            #expect(PurchaseFacts(transactions: [refunded, copy]).anomalies == [], "\(copy)")
        }
        // Without a refund all are copies.
        #expect(try purchase([once("1", at: 0), again]).sales.count == 1)
    }

    @Test("counts as a copy in doubt until Apple says more, and is named")
    func doubt() throws {
        let refunded = once("1", at: 0, revoked: day(10), signed: day(11), digest: 1)
        for unclear in [once("2", at: 20, original: nil), once("2", at: 20, original: 20, price: nil)] {
            var facts = [refunded, unclear]
            #expect(try purchase(facts).revokedAt == day(10))
            #expect(
                PurchaseFacts(transactions: facts).anomalies == [
                    Anomaly(.purchaseUnclear, signedAt: day(20), transactionID: "2")
                ])
            facts.append(once("2", at: 20, original: 20, signed: day(21), digest: 9))
            #expect(try purchase(facts).revokedAt == nil)
            #expect(PurchaseFacts(transactions: facts).anomalies == [])
        }
    }

    @Test("is not bought again where it was given back before")
    func givenBack() throws {
        let reversed = [
            once("1", at: 0, revoked: day(10), signed: day(11), digest: 1),
            once("1", at: 0, signed: day(20), digest: 2),
        ]
        for copy in [once("2", at: 30, original: nil), once("2", at: 30, original: 30)] {
            let value = try purchase(reversed + [copy])
            #expect(value.revokedAt == nil && value.sales.count == 1)
            #expect(value.gaps == [.init(from: day(10), until: day(20))])
            #expect(PurchaseFacts(transactions: reversed + [copy]).anomalies == [])
        }
        // Between the refund and its reversal it is, and both are held from then on.
        let between = try purchase(reversed + [once("2", at: 15, original: 15)])
        #expect(between.sales.count == 2)
        #expect(between.gaps == [.init(from: day(10), until: day(15), isBoughtAgain: true)])
    }

    @Test("is refunded and bought again any number of times, and each copy goes with what it was made of")
    func often() throws {
        var facts: [TransactionFact] = []
        for number in 0..<4 as Range<Int64> {
            let (start, id) = (number * 100, "\(number)")
            facts += [
                once(id, at: start, original: start, digest: 1),
                // A restore while it was held, and one after the refund.
                once("\(id) copy", at: start + 10, original: start, digest: 2),
                once("\(id) late", at: start + 60, original: start, digest: 4),
            ]
            if number < 3 {
                facts.append(
                    once(id, at: start, original: start, revoked: day(start + 50), signed: day(start + 51), digest: 3))
            }
        }
        let value = try purchase(facts)
        #expect(value.sales.map(\.transactionID) == ["0", "1", "2", "3"] && value.revokedAt == nil)
        #expect(
            value.gaps
                == (0..<3).map {
                    .init(from: day($0 * 100 + 50), until: day(($0 + 1) * 100), isBoughtAgain: true)
                })
        facts.append(once("3 copy", at: 310, original: 300, revoked: day(350), signed: day(350), digest: 7))
        let ended = try purchase(facts)
        #expect(ended.revokedAt == day(350) && ended.sales.allSatisfy { $0.revokedAt != nil })
        var generator = TestSupport.SeededGenerator()
        for _ in 0..<50 {
            #expect(
                PurchaseState(PurchaseFacts(transactions: facts.shuffled(using: &generator))).oneTime == ended,
                "seed \(generator.seed)")
        }
    }

    @Test("by a family member who shares it is no sale where the customer bought it, too")
    func family() throws {
        let value = try purchase([once("1", at: 0, family: true), once("2", at: 5, digest: 1)])
        #expect(value.sales.map(\.transactionID) == ["2"])
    }

    @Test("and consumed is a credit for each transaction, and a share that was taken back is kept exactly")
    func credits() throws {
        func coins(
            _ id: String, at bought: Int64, revoked: Int64? = nil, share: Int64? = nil, quantity: Int64 = 1,
            digest number: UInt8 = 0
        ) -> TransactionFact {
            once(
                id, .consumable, at: bought, revoked: revoked.map { day($0) }, share: share, quantity: quantity,
                signed: revoked.map { day($0) }, digest: number)
        }
        let two = try purchase([coins("1", at: 0), coins("2", at: 1, quantity: 2)])
        #expect(two.quantity == 3 && two.sales.count == 2 && two.takenBack == 0 && two.revokedAt == nil)
        let most = try purchase([
            coins("1", at: 0), coins("2", at: 1, quantity: 2), coins("1", at: 0, revoked: 5, share: 99_000, digest: 1),
        ])
        #expect(most.takenBack == 99_000 && most.revokedAt == day(5) && most.revokedShare == 33_000)
        let thirds = try purchase([coins("1", at: 0, revoked: 5, share: 33_333, quantity: 7)])
        #expect(thirds.takenBack == 7 * 33_333 && thirds.revokedShare == 33_333)
        // Several transactions of one paid item are one credit.
        let same = [
            once("1", .consumable, at: 0, item: "w"), once("2", .consumable, at: 0, item: "w", digest: 1),
        ]
        #expect(try purchase(same).quantity == 1)
    }

    @Test("is told in its story as bought again, and a restore as a restore")
    func story() {
        let key = PurchaseKey(environment: "Production", bundleID: "app", originalTransactionID: "1")
        func kinds(_ facts: [TransactionFact]) -> [[PurchaseChange.Kind]] {
            PurchaseStory(
                facts.map { PurchaseEvidence(signedAt: $0.signedAt, transaction: $0) }, of: key
            ).entries.map { $0.changes.map(\.kind) }
        }
        let first = [once("1", at: 0), once("1", at: 0, revoked: day(10), signed: day(11), digest: 1)]
        #expect(kinds(first + [once("2", at: 20, original: 20)]) == [[.oneTimeBought], [.refunded], [.oneTimeBought]])
        #expect(kinds(first + [once("2", at: 20)]) == [[.oneTimeBought], [.refunded], [.restored]])
    }
}
