import AppStorePayloads
import Base
import Subscriptions
import Testing

/// How long periods count for recurring revenue, by examples worked by hand.
@Suite("Recurring terms")
struct RecurringTermsTests {
    private func sold(
        _ id: String, _ days: ClosedRange<Int64>, product: String = "basic", renewal: Bool = false, trial: Bool = false,
        signed: Timestamp? = nil, digest number: UInt8 = 0, _ change: (inout TransactionFact) -> Void = { _ in }
    ) -> TransactionFact {
        var fact = period(
            id, days, item: id, product: product, renewal: renewal, trial: trial, signed: signed, digest: number)
        (fact.price, fact.currency) = (9_990, "USD")
        change(&fact)
        return fact
    }

    /// The same once it was refunded, in full by default: signed when it was.
    private func refunded(
        _ fact: TransactionFact, on instant: Timestamp, share: Int64? = 100_000, _ type: RevocationType? = .refundFull
    ) -> TransactionFact {
        var refunded = fact
        (refunded.revokedAt, refunded.revocationPercentage, refunded.revocationType) = (instant, share, type)
        (refunded.signedAt, refunded.asOf) = (instant, instant)
        refunded.digest = digest(UInt8(truncatingIfNeeded: instant.millisecondsSince1970 / 86_400_000) | 128)
        return refunded
    }

    private func transactions(
        _ records: [TransactionFact], _ words: [RenewalFact] = [], leeway: Int64 = 0
    ) -> [BookedTransaction] {
        let facts = PurchaseFacts(transactions: records, renewals: words)
        let state = PurchaseState(facts, policy: StatusPolicy(renewalLeewaySeconds: leeway))
        return state.orders(of: "1").first?.transactions ?? []
    }

    private func terms(
        _ records: [TransactionFact], _ words: [RenewalFact] = [], leeway: Int64 = 0
    ) -> [RecurringTerms] {
        transactions(records, words, leeway: leeway).map(\.recurring)
    }

    @Test("what is renewed counts from its beginning to its end, cancelled or not, and needs no more words")
    func plain() {
        let usual = RecurringTerms()
        let sold = [sold("1", 0...30), sold("2", 30...60, renewal: true)]
        #expect(terms(sold) == [usual, usual])
        #expect(terms(sold, [renewal(signed: day(40), renews: day(60), on: false)], leeway: 600) == [usual, usual])
    }

    @Test("grace counts, from the end on, as far as a charge that succeeds in it; billing retry does not")
    func grace() {
        let graced = renewal(
            signed: day(30).adding(seconds: 40), renews: day(30), retry: true, grace: day(46), reported: 4)
        for leeway in [0, 600] as [Int64] {
            let over = terms([sold("1", 0...30)], [graced], leeway: leeway)
            #expect(over.map(\.countsUntil) == [day(46)] && over.map(\.endReason) == [.billing])
            let recovered = terms([sold("1", 0...30), sold("2", 35...65, renewal: true)], [graced], leeway: leeway)
            #expect(recovered.map(\.countsUntil) == [day(35), nil] && recovered.map(\.endReason) == [nil, nil])
        }
        let retried = renewal(signed: day(30), renews: day(30), retry: true, reported: 3)
        let unpaid = terms([sold("1", 0...30), sold("2", 35...65, renewal: true)], [retried])
        #expect(unpaid.map(\.countsUntil) == [nil, nil] && unpaid.map(\.endReason) == [.billing, nil])
    }

    @Test("grace that follows billing retry is a stretch of its own")
    func graceAfterRetry() {
        let words = [
            renewal(signed: day(30), renews: day(30), retry: true, reported: 3),
            renewal(signed: day(33), renews: day(30), retry: true, grace: day(46), reported: 4, digest: 1),
        ]
        let found = terms([sold("1", 0...30)], words)
        #expect(found.map(\.countsUntil) == [nil] && found.map(\.endReason) == [.billing])
        #expect(found.map(\.stretches) == [[.init(from: day(33), until: day(46), endReason: .billing)]])
    }

    @Test("the reason of an end is Apple's expirationIntent, however late it is signed; what follows has none")
    func reasons() {
        for (intent, reason) in [(1, .voluntary), (2, .billing), (3, .voluntary), (4, .other), (5, .other), (nil, nil)]
            as [(Int?, RecurringTerms.EndReason?)]
        {
            let over = renewal(signed: day(32), renews: nil, on: false, reported: 2, intent: intent)
            #expect(terms([sold("1", 0...30)], [over]).map(\.endReason) == [reason])
            #expect(terms([sold("1", 0...30), sold("2", 30...60)], [over]).prefix(1).map(\.endReason) == [nil])
        }
    }

    @Test("a superseded period counts until the upgrade, a refunded one until its revocationDate")
    func ends() {
        let upgraded = terms([sold("1", 0...365, product: "yearly"), sold("2", 100...130)])
        #expect(upgraded.map(\.countsUntil) == [day(100), nil] && upgraded.map(\.endReason) == [nil, nil])
        let one = sold("1", 0...30)
        let over = renewal(signed: day(11), renews: nil, on: false, reported: 2, intent: 1)
        let whole = terms([one, refunded(one, on: day(10))], [over])
        #expect(whole.map(\.countsUntil) == [day(10)] && whole.map(\.endReason) == [nil])
        let part = terms([one, refunded(one, on: day(10), share: 99_999, nil)])
        #expect(part.map(\.countsUntil) == [nil])
        // From its first instant on: it counts at no instant.
        #expect(terms([one, refunded(one, on: day(0))]).map(\.countsUntil) == [day(0)])
    }

    @Test("a refund that is taken back counts again from the reversal's signature on")
    func reversal() {
        let one = sold("1", 0...30)
        let found = terms([one, refunded(one, on: day(10)), sold("1", 0...30, signed: day(15), digest: 7)])
        #expect(found.map(\.countsUntil) == [day(10)])
        #expect(found.map(\.stretches) == [[.init(from: day(15), until: day(30))]])
    }

    @Test("seats that are added are parts of one period")
    func seats() {
        let added = sold("2", 10...30) { $0.additionalReason = "SEAT_ADDITION" }
        #expect(terms([sold("1", 0...30), added]).map(\.partOf) == ["w1", "w1"])
        #expect(terms([sold("1", 0...30), added]).map(\.countsUntil) == [nil, nil])
    }

    @Test("auto-renew that is off when a trial ends is noted, and no other one")
    func trials() {
        let off = renewal(signed: day(5), renews: day(7), on: false)
        #expect(terms([sold("1", 0...7, trial: true)], [off]).map(\.isRenewalOff) == [true])
        #expect(terms([sold("1", 0...7)], [off]).map(\.isRenewalOff) == [false])
        let onAgain = renewal(signed: day(6), renews: day(7), on: true, digest: 1)
        #expect(terms([sold("1", 0...7, trial: true)], [off, onAgain]).map(\.isRenewalOff) == [false])
    }

    @Test(
        "an offer that is paid up front and a plan billed by the month are paid for as long; an end that moved is kept")
    func billing() {
        func time(_ period: String?, _ plan: String?) -> Int64? {
            transactions([
                sold("1", 0...30) { ($0.upFrontPeriod, $0.billingPlan) = (period, plan) }
            ]).first?.billedTime?.quarters
        }
        #expect(time(nil, nil) == nil && time(nil, "YEARLY") == nil && time(nil, "MONTHLY") == 4)
        #expect(
            time("P3M", "MONTHLY") == 12 && time("P1Y", nil) == 48 && time("P2W", nil) == 2 && time("P7D", nil) == 1)
        for text in ["", "P", "3M", "P3", "PM", "P3D", "P3M1Y", "P0M", "P101Y", "P-1M", "P99999999999999999999M"] {
            #expect(time(text, nil) == nil, "\(text)")
        }
        let moved = transactions([sold("1", 0...30), sold("1", 0...61, signed: day(20), digest: 1)])
        #expect(moved.map(\.firstEndsAt) == [day(30)] && moved.map(\.endsAt) == [day(61)])
        #expect(transactions([sold("1", 0...30)]).map(\.firstEndsAt) == [nil])
    }

    @Test("a payload says both only where they count")
    func payload() {
        func fact(_ type: OfferDiscountType?) -> TransactionFact {
            TransactionFact(
                TransactionPayload(
                    transactionId: "1", originalTransactionId: "1", bundleId: "app", signedDate: day(0),
                    offerDiscountType: type, offerPeriod: "P3M", billingPlanType: "MONTHLY"), digest: digest(0))
        }
        #expect(fact(.payUpFront).upFrontPeriod == "P3M" && fact(.payAsYouGo).upFrontPeriod == nil)
        #expect(fact(nil).billingPlan == "MONTHLY")
    }
}
