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

    @Test("nobody waits where auto-renew is off, was never heard of, or Apple has given or taken its word")
    func doesNotWait() {
        let bought = period("1", 0...30)
        let end = day(30).adding(seconds: 5)
        for renewals in [
            [renewal(signed: day(0), renews: day(30), on: false)], [],
            [renewal(signed: day(0), renews: day(30)), renewal(signed: end, renews: day(30), digest: 1)],
            [renewal(signed: day(0), renews: day(30), intent: 2)],
        ] {
            let facts = PurchaseFacts(transactions: [bought], renewals: renewals)
            #expect(Self.status(facts, end) == .expired)
        }
        let refunded = PurchaseFacts(
            transactions: [period("1", 0...30, revoked: day(20), signed: day(20))],
            renewals: [renewal(signed: day(0), renews: day(30))])
        #expect(Self.status(refunded, day(30)) == .revoked)
        let reported = PurchaseFacts(
            transactions: [bought], renewals: [renewal(signed: day(0), renews: day(30))],
            reportedStatuses: [ReportedStatus(status: 2, signedAt: end)])
        #expect(Self.status(reported, end) == .expired)
        #expect(PurchaseState(reported, policy: Self.policy).anomalies.isEmpty)
    }
}
