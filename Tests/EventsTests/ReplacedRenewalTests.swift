import AppStorePayloads
import Base
import Events
import Subscriptions
import Testing

@Suite("Events of a renewal that was replaced before it began")
struct ReplacedRenewalTests {
    private let charged = day(30, seconds: -36_000)
    private let bought = day(30, seconds: -12_600)

    /// Premium, bought while the next month of basic is charged already.
    private var plan: TransactionFact {
        var plan = period("3", 29...394, product: "premium")
        plan.purchasedAt = bought
        plan.expiresAt = bought.adding(days: 365)
        return plan
    }

    private var upgrade: Heard {
        .of("DID_CHANGE_RENEWAL_PREF/UPGRADE", plan, signed: bought.adding(seconds: 1))
    }

    private func refund(_ signed: Timestamp) -> Heard {
        var renewal = period("2", 30...60, renewal: true, revoked: signed, signed: signed)
        renewal.isUpgraded = true
        return Heard(
            "REFUND", signedAt: signed, transaction: renewal,
            renewal: renewing(signed: signed, renews: plan.expiresAt, to: "premium", product: "premium"), status: 1)
    }

    @Test("are its charge and the plan, and nothing where it would have begun or ended")
    func told() {
        var listener = Listener.subscriber()
        listener.hear(.renewed(signed: charged), at: charged.adding(seconds: 1))
        #expect(listener.taken() == ["renewed"])
        listener.hear(upgrade, at: bought.adding(seconds: 3))
        #expect(listener.events.last?.value?.productID == "premium")
        #expect(listener.events.last?.value?.expiresAt == bought.adding(days: 365))
        #expect(listener.taken() == ["product_changed"])
        listener.runClock(to: day(100))
        #expect(listener.taken() == [])
        listener.hear(refund(day(100)), at: day(100, seconds: 2))
        #expect(listener.events.last?.value?.productID == "premium")
        #expect(listener.taken() == ["refunded"])
    }

    @Test("are none where it is first heard of after the plan")
    func late() {
        var listener = Listener.subscriber()
        listener.hear(upgrade, at: bought.adding(seconds: 3))
        #expect(listener.taken() == ["product_changed"])
        listener.hear(.renewed(signed: charged), at: day(29, seconds: 86_000))
        listener.runClock(to: day(100))
        #expect(listener.taken() == [])
        var other = Listener.subscriber()
        other.hear(upgrade, at: bought.adding(seconds: 3))
        other.events = []
        other.hear(refund(day(32)), at: day(32, seconds: 2))
        other.runClock(to: day(100))
        #expect(other.taken() == [])
    }

    @Test("are the plan alone where all of it is heard at once")
    func together() {
        var listener = Listener.subscriber()
        listener.hear(upgrade, .renewed(signed: charged), at: day(31))
        #expect(listener.events.last?.value?.productID == "premium")
        #expect(listener.events.count { $0.period?.transactionID == "2" } == 0)
        listener.events = []
        listener.runClock(to: day(100))
        #expect(listener.taken() == [])
    }

    // MARK: - Restored by what is received later

    /// Premium ran before the renewal to basic. With it known, the word below is about premium's own renewal.
    private var former: Heard {
        let former = period("1", 0...30, product: "premium")
        return Heard("SUBSCRIBED/RESUBSCRIBE", signedAt: former.signedAt, transaction: former)
    }

    /// The renewal to basic, charged ahead.
    private var renewal: Heard {
        Heard("DID_RENEW", signedAt: charged, transaction: period("2", 30...60, renewal: true, signed: charged))
    }

    /// Apple names premium with an end that no known period has: a purchase by which the renewal never begins.
    private func word(refunding isRefund: Bool) -> Heard {
        let renewal = renewing(signed: bought, renews: day(37), to: "premium", product: "premium")
        guard isRefund else { return Heard("PRICE_INCREASE", signedAt: bought, renewal: renewal) }
        var refunded = period("2", 30...60, renewal: true, revoked: bought.adding(seconds: -7), signed: bought)
        refunded.isUpgraded = true
        return Heard("REFUND", signedAt: bought, transaction: refunded, renewal: renewal)
    }

    private static func reports(of key: String, in listener: Listener) -> Int {
        listener.events.count { $0.period?.key == key && $0.kind != .subscriptionRefunded }
    }

    @Test("are its charge once, where what is received after it restores it", arguments: [false, true])
    func restored(_ isRefund: Bool) {
        var listener = Listener()
        listener.hear(renewal, at: charged.adding(seconds: 1))
        #expect(Self.reports(of: "ww2", in: listener) == 1)
        listener.hear(word(refunding: isRefund), at: bought.adding(seconds: 1))
        #expect(listener.told?.neverBegun == ["ww2"])
        listener.hear(former, at: day(31))
        #expect(listener.told?.neverBegun == [])
        listener.runClock(to: day(100))
        #expect(Self.reports(of: "ww1", in: listener) == 1)
        #expect(Self.reports(of: "ww2", in: listener) == 1)
    }

    @Test("are its charge, where it is first received while it never begins, and is restored after that")
    func restoredUnreported() {
        var listener = Listener()
        listener.hear(word(refunding: false), renewal, at: bought.adding(seconds: 1))
        #expect(Self.reports(of: "ww2", in: listener) == 0)
        listener.hear(former, at: day(31))
        listener.runClock(to: day(100))
        #expect(Self.reports(of: "ww2", in: listener) == 1)
    }
}
