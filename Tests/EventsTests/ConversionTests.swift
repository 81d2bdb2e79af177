import AppStorePayloads
import Base
import Events
import Subscriptions
import Testing

/// The first paid period after a trial.
@Suite("A trial's conversion")
struct ConversionTests {
    @Test(
        "charged ahead of the trial's end it is told then, once, and names when the trial ends; its beginning is no event"
    )
    func ahead() throws {
        var listener = Listener.subscriber(trial: true)
        listener.hear(.renewed(signed: day(29)), at: day(29, seconds: 1))
        let event = try #require(listener.events.first)
        #expect(event.previous?.status == .trial && event.previous?.inTrial == true)
        // What it is after the trial.
        #expect(event.value?.status == .active && event.value?.inTrial == false && event.value?.accessUntil == day(60))
        #expect(event.period?.startsAt == day(30) && event.period?.isFreeTrial == false)
        #expect(event.value?.transactionID == "2" && event.previous?.transactionID == "1")
        #expect(listener.taken() == ["converted"])
        #expect(listener.nextDue == day(30))
        listener.runClock(to: day(31))
        #expect(listener.taken() == [])
        #expect(listener.told?.value.inTrial == false && listener.told?.isConverted == false)
        listener.hear(.renewed("3", 60...90, signed: day(60)), at: day(60, seconds: 1))
        #expect(listener.events.first?.previous?.inTrial == false)
        #expect(listener.taken() == ["renewed"])
    }

    @Test("until the trial ends, events go on to say what the subscription is after it, unless the charge is refunded")
    func between() {
        var listener = Listener.subscriber(trial: true)
        listener.hear(.renewed(signed: day(29)), at: day(29, seconds: 1))
        listener.events = []
        var refunding = listener
        listener.hear(.switchedOff("2", 30...60, signed: day(29, seconds: 60)), at: day(29, seconds: 61))
        #expect(listener.events.first?.value?.inTrial == false && listener.events.first?.previous?.status == .active)
        #expect(listener.events.first?.transactionIDs == ["2", "2"])
        #expect(listener.taken() == ["cancelled"])
        listener.runClock(to: day(31))
        #expect(listener.taken() == [])
        refunding.hear(
            .of(
                "REFUND", period("2", 30...60, renewal: true, revoked: day(29, seconds: 90)),
                signed: day(29, seconds: 91), on: false), at: day(29, seconds: 92))
        #expect(refunding.events.last?.value?.inTrial == true && refunding.events.last?.value?.accessUntil == day(30))
        #expect(refunding.events.first?.value?.transactionID == "1")
        #expect(refunding.events.first?.previous?.transactionID == "2")
        #expect(refunding.taken().first == "refunded")
        var reversing = refunding
        refunding.runClock(to: day(31))
        #expect(refunding.events.last?.value?.status.access == false)
        reversing.hear(
            .of("REFUND_REVERSED", period("2", 30...60, renewal: true), signed: day(29, seconds: 200)),
            at: day(29, seconds: 201))
        let reversal = reversing.events.first
        #expect(reversal?.value?.inTrial == false && reversal?.value?.transactionID == "2")
        #expect(reversal?.previous?.inTrial == true && reversal?.value?.accessUntil == day(60))
        #expect(reversing.taken().first == "refund_reversed")
        #expect(reversing.told?.isConverted == true)
        reversing.runClock(to: day(31))
        #expect(reversing.taken() == [])
    }

    @Test("heard at the seam, or after an outage of the clock, it is told once as well")
    func seam() {
        var listener = Listener.subscriber(trial: true)
        listener.hear(.renewed(signed: day(30, seconds: 5)), at: day(30, seconds: 6))
        #expect(listener.taken() == ["converted"])
        var late = Listener()
        late.hear(
            .of("SUBSCRIBED/INITIAL_BUY", period("1", 0...30, trial: true), signed: day(0, seconds: 2)),
            .renewed(signed: day(29)), at: day(40))
        #expect(late.taken() == ["trial_started late", "converted late"])
        late.runClock(to: day(50))
        #expect(late.taken() == [])
    }

    @Test("after a charge that failed it is a conversion, and no recovery")
    func failed() {
        for start in [Int64(31), 35] {
            var listener = Listener.subscriber(trial: true)
            listener.hear(
                .of(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", period("1", 0...30, trial: true), signed: day(30, seconds: 5),
                    retry: true, grace: day(33), status: 4), at: day(30, seconds: 6))
            listener.runClock(to: day(start))
            listener.events = []
            listener.hear(
                .of(
                    "DID_RENEW/BILLING_RECOVERY", period("2", start...65, renewal: true),
                    signed: day(start, seconds: 2)), at: day(start, seconds: 3))
            #expect(listener.taken() == ["converted"], "\(start)")
        }
    }

    @Test("another product that is paid for in the trial is a conversion, one that is free is none")
    func upgrade() {
        for isFree in [false, true] {
            var listener = Listener.subscriber(trial: true)
            listener.hear(
                .of(
                    "DID_CHANGE_RENEWAL_PREF/UPGRADE", period("2", 5...35, product: "gold", trial: isFree),
                    signed: day(5, seconds: 2)), at: day(5, seconds: 3))
            #expect(listener.taken() == [isFree ? "product_changed" : "converted"])
        }
    }

    @Test("what is bought after the trial has ended starts anew")
    func lapsed() {
        var listener = Listener.subscriber(trial: true)
        listener.hear(.switchedOff(signed: day(2)), at: day(2, seconds: 1))
        listener.runClock(to: day(31))
        listener.events = []
        listener.hear(.of("SUBSCRIBED/RESUBSCRIBE", period("2", 40...70), signed: day(40)), at: day(40, seconds: 1))
        #expect(listener.taken() == ["started"])
    }

    @Test("another product that was charged ahead is told as the conversion, and as another product when it begins")
    func downgrade() {
        var listener = Listener.subscriber(trial: true)
        listener.hear(
            .of("DID_RENEW", period("2", 30...60, product: "lite", renewal: true), signed: day(29)),
            at: day(29, seconds: 1))
        #expect(listener.events.contains { $0.kind == .subscriptionConverted })
        #expect(!listener.taken().contains { ["started", "renewed"].contains($0) })
        listener.runClock(to: day(31))
        #expect(listener.taken() == ["product_changed"])
    }

    @Test("what renewal info alone says is a conversion, and its record none any more")
    func unheard() {
        var listener = Listener.subscriber(trial: true)
        listener.hear(
            Heard(
                "DID_CHANGE_RENEWAL_STATUS", signedAt: day(31), renewal: renewing(signed: day(31), renews: day(60)),
                status: 1), at: day(31, seconds: 1))
        #expect(listener.events.count { $0.kind == .subscriptionConverted } == 1)
        #expect(!listener.taken().contains { $0.hasPrefix("renewed") || $0.hasPrefix("started") })
        listener.hear(.renewed(signed: day(32)), at: day(32, seconds: 1))
        #expect(!listener.taken().contains { ["started", "renewed", "converted"].contains($0) })
    }

    @Test("where nothing was told of the charge, the end of the trial is the conversion")
    func untold() {
        var listener = Listener()
        listener.hear(
            .of("SUBSCRIBED/INITIAL_BUY", period("1", 0...30, trial: true), signed: day(0, seconds: 2)),
            .renewed(signed: day(29)), at: day(29, seconds: 5), isFill: true)
        #expect(listener.taken() == ["trial_started"])
        listener.runClock(to: day(31))
        #expect(listener.events.first?.instant == day(30))
        #expect(listener.taken() == ["converted"])
    }
}
