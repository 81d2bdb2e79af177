import AppStorePayloads
import Base
import Subscriptions
import Testing

@Suite("The product that renewal info names")
struct ProductCheckTests {
    /// A year of basic, and what Apple says later: premium by the month, which no notification told of.
    private func facts(_ said: RenewalFact...) -> PurchaseFacts {
        var facts = PurchaseFacts(transactions: [period("1", 0...365)])
        facts.merge(renewal(signed: day(0), renews: day(365), reported: 1))
        for said in said { facts.merge(said) }
        return facts
    }

    private let lost = renewal(signed: day(20), renews: day(40), product: "premium", reported: 1, digest: 1)

    @Test("is what the customer has from its signing to its end, where its purchase was never heard of")
    func lostUpgrade() {
        let facts = facts(lost)
        #expect(facts.value(day(20).adding(milliseconds: -1))?.productID == "basic")
        #expect(facts.value(day(20))?.productID == "premium")
        #expect(facts.value(day(20))?.basis == .renewalInfo)
        #expect(facts.value(day(20))?.expiresAt == day(40))
        #expect(facts.status(day(39)) == .active)
        // The year was replaced, and gives nothing any more.
        #expect(facts.status(day(40)) == .expired)
        #expect(facts.status(day(300)) == .expired)
        #expect(facts.anomalies.map(\.kind) == [.periodMissing])
        #expect(facts.anomalies.first?.signedAt == day(20))
    }

    @Test("stands, whatever Apple says later of its end")
    func later() {
        let off = renewal(
            signed: day(30), renews: day(40), on: false, product: "premium", reported: 1, digest: 2)
        let over = renewal(
            signed: day(40), renews: day(40), on: false, product: "premium", reported: 2, intent: 1, digest: 3)
        let facts = facts(lost, off, over)
        #expect(facts.status(day(31)) == .cancelled)
        #expect(facts.value(day(31))?.productID == "premium")
        #expect(facts.status(day(41)) == .expired && facts.status(day(100)) == .expired)
    }

    @Test("is the true purchase's once that is heard of")
    func heard() {
        var facts = facts(lost)
        let bought = period("2", 10...40, product: "premium")
        facts.merge(bought)
        #expect(facts.value(day(10))?.productID == "premium")
        #expect(facts.value(day(20))?.transactionID == "2")
        #expect(facts.anomalies.isEmpty)
    }

    @Test("is none of a period that is charged ahead and named before it begins")
    func chargedAhead() {
        let ahead = period("2", 30...60, product: "lesser", renewal: true, signed: day(29, hours: 12))
        var facts = PurchaseFacts(transactions: [period("1", 0...30), ahead])
        facts.merge(renewal(signed: day(29, hours: 12), renews: day(60), product: "lesser", reported: 1))
        #expect(facts.value(day(29, hours: 13))?.productID == "basic")
        #expect(facts.value(day(30))?.productID == "lesser")
        #expect(facts.anomalies.isEmpty)
        // Nor where its own record was lost, and it was said before what the subscription renews to.
        var lost = PurchaseFacts(transactions: [period("1", 0...30)])
        var pending = renewal(signed: day(10), renews: day(30), reported: 1)
        pending.renewalProductID = "lesser"
        lost.merge(pending)
        lost.merge(renewal(signed: day(29, hours: 12), renews: day(60), product: "lesser", reported: 1, digest: 1))
        #expect(lost.value(day(29, hours: 13))?.productID == "basic")
        #expect(lost.value(day(30))?.productID == "lesser")
        #expect(lost.anomalies.map(\.kind) == [.periodMissing])
    }

    @Test("is an extension where the product that runs is named with another end")
    func extended() {
        let facts = facts(renewal(signed: day(20), renews: day(380), reported: 1, digest: 1))
        #expect(facts.status(day(370)) == .active)
        #expect(facts.value(day(21))?.transactionID == "1")
    }

    @Test("decides nothing without status 1, without a product, or once it is overtaken")
    func nothing() {
        for status in [nil, 2, 3, 4, 5, 6] as [Int?] {
            let said = renewal(signed: day(20), renews: day(40), product: "premium", reported: status, digest: 1)
            #expect(facts(said).value(day(30))?.productID == "basic", "\(status ?? 0)")
        }
        let unnamed = renewal(signed: day(20), renews: day(40), product: nil, reported: 1, digest: 1)
        #expect(facts(unnamed).value(day(30))?.productID == "basic")
        var overtaken = facts(lost)
        overtaken.merge(period("3", 25...55, product: "family"))
        #expect(overtaken.value(day(24))?.productID == "premium")
        #expect(overtaken.value(day(26))?.productID == "family")
        #expect(overtaken.status(day(56)) == .expired)
    }

    @Test("also keeps a renewal from beginning that was charged before a lost upgrade")
    func chargedBeforeLostUpgrade() {
        var facts = PurchaseFacts(transactions: [
            period("1", 0...30), period("2", 30...60, renewal: true, signed: day(29, hours: 14)),
        ])
        facts.merge(renewal(signed: day(29, hours: 14), renews: day(60), reported: 1))
        facts.merge(renewal(signed: day(29, hours: 22), renews: day(36), product: "premium", reported: 1, digest: 1))
        #expect(facts.value(day(29, hours: 21))?.productID == "basic")
        for instant in [day(29, hours: 22), day(30), day(35)] {
            #expect(facts.value(instant)?.productID == "premium", "\(instant)")
        }
        #expect(facts.status(day(37)) == .expired)
    }
}
