import AppStorePayloads
import Base
import Subscriptions
import TestSupport
import Testing

@Suite("Waiting for a renewal that may only be late")
struct LeewayTests {
    private static let policy = StatusPolicy(renewalLeewaySeconds: 600)

    private static func status(_ facts: PurchaseFacts, _ instant: Timestamp) -> SubscriptionStatus? {
        SubscriptionState(facts, policy: policy)?.status(at: instant)?.status
    }

    @Test("access goes on for the leeway where auto-renew is on and Apple has said nothing since the end")
    func waits() {
        let facts = PurchaseFacts(
            transactions: [period("1", 0...30)], renewals: [renewal(signed: day(0), renews: day(30))])
        #expect(Self.status(facts, day(30)) == .active)
        #expect(Self.status(facts, day(30).adding(seconds: 599)) == .active)
        #expect(Self.status(facts, day(30).adding(seconds: 600)) == .expired)
        #expect(SubscriptionState(facts, policy: Self.policy)?.phases.count == 2)
        #expect(SubscriptionState(facts)?.status(at: day(30))?.status == .expired)
        let trial = PurchaseFacts(
            transactions: [period("1", 0...30, trial: true)], renewals: [renewal(signed: day(0), renews: day(30))])
        #expect(Self.status(trial, day(30)) == .trial)
    }

    @Test("a word before the end does not use the leeway up, however shortly before, where it excludes no renewal")
    func goodWords() {
        for seconds in [-86_400, -61, -59, -1, 0] as [Int64] {
            let signed = day(30).adding(seconds: seconds)
            let words: [(RenewalFact?, Int?)] = [
                (renewal(signed: signed, renews: day(30), reported: 1), 1),
                (renewal(signed: signed, renews: day(30)), nil),
                (nil, 1), (renewal(signed: signed, renews: day(30), on: nil), nil),
            ]
            for (info, status) in words {
                // What was said long before does not matter then.
                var facts = PurchaseFacts(
                    transactions: [period("1", 0...30)],
                    renewals: [renewal(signed: day(3), renews: day(30), on: info == nil, digest: 9)])
                if let info { facts.merge(info) }
                if let status { facts.merge(ReportedStatus(status: status, signedAt: signed)) }
                #expect(Self.status(facts, day(30)) == .active, "\(seconds)")
                #expect(Self.status(facts, day(30).adding(seconds: 600)) == .expired, "\(seconds)")
            }
        }
        // Where auto-renew was never heard of, access goes on, too.
        #expect(Self.status(PurchaseFacts(transactions: [period("1", 0...30)]), day(30)) == .active)
        // And where the last word was about the period before.
        let renewed = PurchaseFacts(
            transactions: [period("1", 0...30), period("2", 30...60, renewal: true)],
            renewals: [renewal(signed: day(3), renews: day(30), on: false)])
        #expect(Self.status(renewed, day(60)) == .active)
        let failedBefore = PurchaseFacts(
            transactions: [period("1", 0...30), period("2", 33...63, renewal: true)],
            reportedStatuses: [ReportedStatus(status: 3, signedAt: day(30))])
        #expect(Self.status(failedBefore, day(63)) == .active)
    }

    @Test("the newest word up to the end excludes a renewal where auto-renew is off in it, or its status is 2, 3 or 5")
    func badWords() {
        for seconds in [-20 * 86_400, -86_400, -1, 0] as [Int64] {
            let signed = day(30).adding(seconds: seconds)
            for status in [2, 3, 5] {
                let facts = PurchaseFacts(
                    transactions: [period("1", 0...30)], renewals: [renewal(signed: day(0), renews: day(30))],
                    reportedStatuses: [ReportedStatus(status: status, signedAt: signed)])
                #expect(Self.status(facts, day(30).adding(seconds: 1))?.access == false, "\(status), \(seconds)")
            }
            // At the very end a signed 1 is another question: the records do not explain it.
            guard seconds < 0 else { continue }
            var facts = PurchaseFacts(
                transactions: [period("1", 0...30)],
                renewals: [
                    renewal(signed: day(0), renews: day(30)),
                    renewal(signed: signed, renews: day(30), on: false, reported: 1, digest: 1),
                ],
                reportedStatuses: [ReportedStatus(status: 1, signedAt: signed)])
            #expect(Self.status(facts, day(30)) == .expired, "\(seconds)")
            // A device signs the transaction anew: that is no word about what comes.
            facts.merge(period("1", 0...30, signed: day(30).adding(seconds: -1), digest: 2))
            #expect(Self.status(facts, day(30)) == .expired, "\(seconds)")
        }
        for renewals in [
            [renewal(signed: day(0), renews: day(30), on: false)],
            [renewal(signed: day(0), renews: day(30), intent: 2)],
        ] {
            let facts = PurchaseFacts(transactions: [period("1", 0...30)], renewals: renewals)
            #expect(Self.status(facts, day(30)) == .expired)
        }
        let refunded = PurchaseFacts(
            transactions: [period("1", 0...30, revoked: day(20), signed: day(20))],
            renewals: [renewal(signed: day(0), renews: day(30))])
        #expect(Self.status(refunded, day(30)) == .revoked)
    }

    @Test("after the end any word uses the leeway up, but renewal info that only repeats, and transactions")
    func afterwards() {
        let (bought, word) = (period("1", 0...30), renewal(signed: day(0), renews: day(30)))
        let end = day(30).adding(seconds: 5)
        let repeated = PurchaseFacts(
            transactions: [bought, period("1", 0...30, signed: end, digest: 1)],
            renewals: [word, renewal(signed: end, renews: day(30), digest: 1)])
        #expect(Self.status(repeated, end) == .active)
        #expect(Self.status(repeated, day(30).adding(seconds: 600)) == .expired)
        for renewals in [
            [word, renewal(signed: end, renews: day(30), to: "premium", digest: 1)],
            [word, renewal(signed: end, renews: day(30), on: false, digest: 1)],
            [renewal(signed: end, renews: day(30))],
            // What was said before, and not last, is something else again.
            [
                renewal(signed: day(0), renews: day(30), pending: true), renewal(signed: day(9), renews: day(30)),
                renewal(signed: end, renews: day(30), pending: true, digest: 2),
            ],
        ] {
            let facts = PurchaseFacts(transactions: [bought], renewals: renewals)
            #expect(Self.status(facts, end.adding(milliseconds: -1)) == .active)
            #expect(Self.status(facts, end) == .expired)
        }
        let reported = PurchaseFacts(
            transactions: [bought], renewals: [word], reportedStatuses: [ReportedStatus(status: 2, signedAt: end)])
        #expect(Self.status(reported, end.adding(milliseconds: -1)) == .active)
        #expect(Self.status(reported, end) == .expired)
        #expect(PurchaseState(reported, policy: Self.policy).anomalies.isEmpty)
    }
}
