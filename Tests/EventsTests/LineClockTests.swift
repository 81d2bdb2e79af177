import AppStorePayloads
import Events
import Subscriptions
import Testing

@Suite("What the clock tells of a subscription")
struct LineClockTests {
    @Test("with auto-renew on and no word from Apple access goes on, and the end is told when the leeway is over")
    func leeway() {
        var listener = Listener.subscriber()
        #expect(listener.nextDue == day(30, seconds: 600))
        listener.tick(day(30, seconds: 599))
        #expect(listener.taken() == [])
        #expect(listener.state.subscription?.status(at: day(30, seconds: 599))?.status == .active)
        listener.runClock(to: day(30, seconds: 600))
        #expect(listener.events.last?.cause == .clock && listener.events.last?.value?.expiresAt == day(30))
        #expect(listener.taken() == ["expired"])
    }

    @Test("where Apple was asked, its answer ends the waiting")
    func asked() {
        var listener = Listener.subscriber()
        let answer = renewing(signed: day(30, seconds: 20), renews: day(30), on: true, reported: 2)
        listener.hear(Heard("", signedAt: day(30, seconds: 20), renewal: answer), at: day(30, seconds: 21))
        #expect(listener.taken() == ["expired"])
    }

    @Test("without auto-renew, or with it and Apple's word that it ended, nobody waits")
    func noLeeway() {
        var listener = Listener.subscriber()
        listener.hear(.switchedOff(signed: day(2)), at: day(2, seconds: 1))
        listener.events = []
        listener.rules.warningDays = []
        #expect(listener.nextDue == day(30))
        listener = Listener.subscriber()
        listener.hear(
            .of("EXPIRED/BILLING_RETRY", period("1", 0...30), signed: day(30, seconds: 4), status: 2, intent: 2),
            at: day(30, seconds: 5))
        #expect(listener.taken() == ["expired"])
    }

    @Test("a renewal that was only late corrects the end that was told of it")
    func late() {
        var listener = Listener.subscriber()
        listener.runClock(to: day(30, seconds: 3600))
        #expect(listener.taken() == ["expired"])
        listener.hear(.renewed(signed: day(30, seconds: 5)), at: day(30, seconds: 3601))
        #expect(listener.events.last?.previous?.status == .expired && listener.events.last?.value?.status == .active)
        #expect(listener.taken() == ["renewed (correction) late"])
        listener.runClock(to: day(59))
        #expect(listener.taken() == [])
    }

    @Test("grace that was heard of after the end was told corrects it; a purchase after an end does not")
    func corrected() {
        var listener = Listener.subscriber()
        listener.runClock(to: day(31))
        var again = listener
        listener.hear(.grace(), at: day(31))
        #expect(listener.taken() == ["expired", "grace_period_started (correction) late"])
        again.hear(
            .of("SUBSCRIBED/RESUBSCRIBE", period("2", 31...61), signed: day(31, seconds: 2)), at: day(31, seconds: 3))
        #expect(again.taken() == ["expired", "started"])
    }

    @Test("after an outage all that came to be is told in order, once, late, with its true instant")
    func outage() {
        var listener = Listener.subscriber()
        listener.hear(.grace(), at: day(30, seconds: 6))
        listener.events = []
        listener.tick(day(95))
        #expect(listener.events.map(\.instant) == [day(33), day(90)])
        #expect(listener.taken() == ["billing_retry_started late", "expired late"])
        listener.tick(day(96))
        #expect(listener.taken() == [] && listener.nextDue == nil)
    }

    @Test("what waited for an outage to end is told by what brought it, and what came in between by the clock")
    func mixed() {
        var listener = Listener.subscriber()
        let (off, bought) = (
            Heard.switchedOff(signed: day(20)),
            Heard.of("SUBSCRIBED/RESUBSCRIBE", period("2", 40...70), signed: day(40, seconds: 2))
        )
        listener.rules.warningDays = []
        listener.hear(off, bought, at: day(41))
        #expect(listener.events.map(\.instant) == [day(20), day(30), day(40)])
        #expect(listener.events.map(\.cause) == [off.evidence.cause, .clock, bought.evidence.cause])
        #expect(listener.taken() == ["cancelled late", "expired late", "started late"])
    }

    @Test("a first fill tells what stands at its end, and what comes after it is told like anything else")
    func fill() {
        var listener = Listener()
        let heard = [
            Heard.of("SUBSCRIBED", period("1", 0...30, trial: true), signed: day(0)),
            .renewed(signed: day(30)),
            .renewed("3", 60...90, signed: day(60)),
            .switchedOff("3", 60...90, signed: day(61)),
        ]
        listener.hear(heard, at: day(70), isFill: true)
        #expect(listener.events.last?.value == listener.state.subscription?.status(at: day(70)))
        #expect(listener.taken() == ["cancelled late"])
        listener.hear(heard, at: day(71), isFill: true)
        #expect(listener.taken() == [])
        #expect(listener.nextDue == day(83))
    }

    @Test("a period that only renewal info tells of is told, and not again when its own record comes")
    func unheard() {
        var listener = Listener.subscriber()
        listener.runClock(to: day(31))
        listener.events = []
        // The renewal is lost; what comes next speaks of the old transaction, and of an end that lies beyond it.
        listener.hear(
            .of("CONSUMPTION_REQUEST", period("1", 0...30), signed: day(32), renews: day(60)), at: day(32, seconds: 1))
        #expect(listener.taken() == ["renewed"])
        listener.hear(.renewed(signed: day(30, seconds: 3)), at: day(33))
        #expect(listener.taken() == [])
        #expect(listener.told?.unheardEnds == [])
    }
}
