import AppStorePayloads
import Base
import Subscriptions
import Testing

@Suite("Parts of one period")
struct PartTests {
    /// Seats that were added to a month: the same end, another purchase.
    private func part(
        _ id: String, _ first: Int64, item: String?, revoked: Timestamp? = nil, signed: Timestamp? = nil,
        reason: String? = "SEAT_ADDITION", digest number: UInt8 = 0
    ) -> TransactionFact {
        var part = period(id, first...30, item: item, revoked: revoked, signed: signed, digest: number)
        part.additionalReason = reason
        return part
    }

    @Test(
        "are revoked when all of them are, never by one, in whichever order",
        arguments: ["a", "b"], ["SEAT_ADDITION", "SOMETHING_NEW"])
    func revoked(item: String, reason: String) {
        let first = part("1", 0, item: "a", reason: nil)
        let added = part("2", 10, item: item, reason: reason)
        var facts = PurchaseFacts(transactions: [first, added])
        #expect(facts.value(day(20))?.transactionID == "1")
        #expect(facts.value(day(20))?.expiresAt == day(30))
        facts.merge(part("2", 10, item: item, revoked: day(12), signed: day(12), reason: reason, digest: 1))
        #expect(facts.status(day(13)) == .active && facts.status(day(31)) == .expired)
        // Apple signs the first one anew, as a refresh makes it do; it was never taken back.
        facts.merge(part("1", 0, item: "a", signed: day(14), reason: reason, digest: 2))
        #expect(facts.status(day(15)) == .active)
        facts.merge(part("1", 0, item: "a", revoked: day(16), signed: day(16), reason: reason, digest: 3))
        #expect(facts.status(day(15)) == .active && facts.status(day(17)) == .revoked)
        #expect(facts.status(day(31)) == .revoked)
        var other = PurchaseFacts(transactions: [first, added])
        other.merge(part("1", 0, item: "a", revoked: day(12), signed: day(12), reason: reason, digest: 1))
        #expect(other.status(day(13)) == .active)
        #expect(other.value(day(13))?.transactionID == "2")
        #expect(other.status(day(31)) == .expired)
        #expect(other.anomalies.isEmpty)
    }

    @Test("take nothing from each other")
    func stretch() {
        let facts = PurchaseFacts(transactions: [
            part("1", 0, item: "a", reason: nil), part("2", 10, item: "b"), part("3", 20, item: "c"),
            period("4", 30...60, item: "d", renewal: true, signed: day(29, hours: 12)),
        ])
        #expect(facts.value(day(25))?.transactionID == "1")
        #expect(facts.value(day(29, hours: 13))?.expiresAt == day(60))
        #expect(facts.value(day(30))?.transactionID == "4")
        let periods = PaidPeriod.all(of: facts)
        #expect(Set(periods.map(\.key)).count == 4)
    }

    @Test("are one purchase where line item and date are one: a refund by either copy, and its reversal")
    func copies() {
        var facts = PurchaseFacts(transactions: [
            part("1", 0, item: "a"), part("9", 0, item: "a", revoked: day(5), signed: day(5), digest: 1),
        ])
        #expect(facts.status(day(6)) == .revoked)
        facts.merge(part("1", 0, item: "a", signed: day(8), digest: 2))
        #expect(facts.status(day(9)) == .active)
        #expect(PaidPeriod.all(of: facts).count == 1)
    }

    @Test("are none where nothing says that one stands beside another")
    func none() {
        let facts = PurchaseFacts(transactions: [
            period("1", 0...30, item: "a"), period("2", 10...30, item: "b", revoked: day(12), signed: day(12)),
        ])
        #expect(facts.status(day(13)) == .revoked)
    }

    @Test("are never cut apart")
    func cut() {
        var facts = PurchaseFacts(transactions: [
            period("0", -30...0), part("1", 0, item: "a"), part("2", 10, item: "b"),
        ])
        facts.merge(renewal(signed: day(11), renews: day(30), reported: 1))
        facts.merge(ReportedStatus(status: 1, signedAt: day(11)))
        #expect(!PurchaseState.mayBeCut(facts, at: day(5), from: day(12)))
    }

    @Test("a reason that nobody knows is neither a purchase nor a renewal")
    func unknownReason() {
        var payload = TransactionPayload(
            transactionId: "1", originalTransactionId: "1", bundleId: "app", signedDate: day(0))
        #expect(TransactionFact(payload, digest: digest(0)).reason == .unknown)
        payload.transactionReason = TransactionReason(rawValue: "GIFT")
        payload.additionalTransactionReason = "SEAT_ADDITION"
        let fact = TransactionFact(payload, digest: digest(0))
        #expect(fact.reason == .unknown && !fact.isRenewal && fact.additionalReason == "SEAT_ADDITION")
        payload.transactionReason = .renewal
        #expect(TransactionFact(payload, digest: digest(0)).isRenewal)
        payload.transactionReason = .purchase
        #expect(TransactionFact(payload, digest: digest(0)).reason == .purchase)
    }
}
