import Accounts
import AppStorePayloads
import Base
import Events
import Subscriptions
import Testing

/// For each kind what makes it.
@Suite("Events of a subscription")
struct LineKindTests {
    @Test("a purchase starts it, a free one as a trial; each names its period, its cause, and what it is by then")
    func started() throws {
        for isTrial in [false, true] {
            var listener = Listener()
            let heard = Heard.of(
                "SUBSCRIBED/INITIAL_BUY", period("1", 0...30, trial: isTrial), signed: day(0, seconds: 2))
            listener.hear(heard, at: day(0, seconds: 3))
            let event = try #require(listener.events.first)
            #expect(listener.events.count == 1)
            #expect(event.kind == (isTrial ? .subscriptionTrialStarted : .subscriptionStarted))
            #expect(event.period?.transactionID == "1")
            #expect(event.cause == heard.evidence.cause)
            #expect(event.instant == day(0) && !event.isLate && !event.isCorrection)
            #expect(event.value == listener.state.subscription?.status(at: day(0, seconds: 3)) && event.previous == nil)
        }
    }

    @Test("what says the same later is not told again")
    func once() {
        var listener = Listener.subscriber()
        listener.hear(
            .of("SUBSCRIBED/INITIAL_BUY", period("1", 0...30), signed: day(0, seconds: 2)), at: day(1))
        listener.hear(.of("PRICE_CHANGE", period("1", 0...30), signed: day(1)), at: day(1, seconds: 1))
        #expect(listener.taken() == [])
    }

    @Test("a renewal is told once, when it is heard: at the seam, or a day ahead of it")
    func renewed() {
        for signed in [day(30, seconds: 5), day(29, seconds: 5)] {
            var listener = Listener.subscriber()
            listener.runClock(to: signed)
            listener.hear(.renewed(signed: signed), at: signed.adding(seconds: 1))
            #expect(listener.events.last?.value?.expiresAt == day(60))
            #expect(listener.taken() == ["renewed"])
            listener.runClock(to: day(59))
            #expect(listener.taken() == [])
        }
    }

    @Test("auto-renew off is a cancellation, and on again the end of it")
    func cancelled() {
        var listener = Listener.subscriber()
        listener.hear(.switchedOff(signed: day(2)), at: day(2, seconds: 1))
        #expect(listener.events.last?.value?.status == .cancelled && listener.events.last?.previous?.status == .active)
        #expect(listener.taken() == ["cancelled"])
        listener.hear(
            .of("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", period("1", 0...30), signed: day(3)),
            at: day(3, seconds: 1))
        #expect(listener.taken() == ["uncancelled"])
    }

    @Test("a charge that failed is told with grace and without, and a charge that went through after it")
    func failing() {
        var listener = Listener.subscriber()
        listener.hear(.grace(), at: day(30, seconds: 6))
        #expect(listener.taken() == ["grace_period_started"])
        #expect(listener.nextDue == day(33))
        listener.runClock(to: day(34))
        #expect(listener.events.last?.instant == day(33) && listener.events.last?.cause == .clock)
        #expect(listener.taken() == ["billing_retry_started"])
        listener.hear(
            .of("GRACE_PERIOD_EXPIRED", period("1", 0...30), signed: day(33, seconds: 9), retry: true, status: 3),
            at: day(34))
        #expect(listener.taken() == [])
        listener.hear(
            .of("DID_RENEW/BILLING_RECOVERY", period("2", 35...65, renewal: true), signed: day(35, seconds: 2)),
            at: day(35, seconds: 3))
        #expect(listener.taken() == ["recovered"])
    }

    @Test("a charge that went through, dated back to before its failure was told, corrects nothing")
    func datedBack() {
        var listener = Listener.subscriber()
        listener.hear(.grace(), at: day(30, seconds: 6))
        listener.events = []
        listener.hear(
            .of("DID_RENEW/BILLING_RECOVERY", period("2", 30...60, renewal: true), signed: day(31)),
            at: day(31, seconds: 1))
        #expect(listener.taken() == ["recovered late"])
    }

    @Test("an upgrade is another product at once, a downgrade first one to renew to, and then with the renewal")
    func plans() {
        var listener = Listener.subscriber()
        listener.hear(
            .of("DID_CHANGE_RENEWAL_PREF/UPGRADE", period("2", 5...35, product: "gold"), signed: day(5, seconds: 2)),
            at: day(5, seconds: 3))
        #expect(listener.taken() == ["product_changed"])
        listener.hear(
            .of("DID_CHANGE_RENEWAL_PREF/DOWNGRADE", period("2", 5...35, product: "gold"), signed: day(6), to: "basic"),
            at: day(6, seconds: 1))
        #expect(listener.taken() == ["renewal_product_changed"])
        listener.hear(.renewed("3", 35...65, signed: day(35, seconds: 2)), at: day(35, seconds: 3))
        #expect(listener.taken() == ["renewed", "product_changed"])
    }

    @Test("an extension is told with its new end, whichever record says it")
    func extended() {
        var listener = Listener.subscriber()
        listener.hear(.of("RENEWAL_EXTENDED", period("1", 0...40), signed: day(3)), at: day(3, seconds: 1))
        #expect(listener.events.last?.value?.expiresAt == day(40))
        #expect(listener.taken() == ["extended"])
    }

    @Test("a higher price is asked for, and agreed to; refusing it is a cancellation and nothing more")
    func price() {
        var listener = Listener.subscriber()
        let pending = Heard.of("PRICE_INCREASE/PENDING", period("1", 0...30), signed: day(2), pending: true)
        listener.hear(pending, at: day(2, seconds: 1))
        #expect(listener.taken() == ["price_increase_pending"])
        var refusing = listener
        listener.hear(.of("PRICE_INCREASE/ACCEPTED", period("1", 0...30), signed: day(3)), at: day(3, seconds: 1))
        #expect(listener.taken() == ["price_increase_agreed"])
        refusing.hear(.switchedOff(signed: day(3)), at: day(3, seconds: 1))
        #expect(refusing.taken() == ["cancelled"])
    }

    @Test("a refund of the period at hand is told, and that access ended; a reversal brings both back in one")
    func refunded() {
        var listener = Listener.subscriber()
        listener.hear(
            .of(
                "REFUND", period("1", 0...30, revoked: day(4), share: 50_000, reason: .appIssue),
                signed: day(4, seconds: 9), on: false, status: 5), at: day(4, seconds: 10))
        #expect(listener.events.first?.period?.revokedShare == 50_000)
        #expect(listener.events.first?.period?.revokedReason == .appIssue)
        #expect(listener.events.first?.content.contains(#""revokedShare":50000,"revokedReason":"app_issue""#) == true)
        #expect(listener.taken() == ["refunded", "revoked"])
        listener.hear(.of("REFUND_REVERSED", period("1", 0...30), signed: day(5)), at: day(5, seconds: 1))
        #expect(listener.events.first?.content.contains(#""revokedShare":0,"revokedReason":null"#) == true)
        #expect(listener.taken() == ["refund_reversed"])
    }

    @Test("a refund of an earlier period is told, and leaves the present alone")
    func earlierRefund() {
        var listener = Listener.subscriber()
        listener.hear(.renewed(signed: day(30, seconds: 2)), at: day(30, seconds: 3))
        listener.events = []
        listener.hear(
            Heard(
                "REFUND", signedAt: day(32, seconds: 5),
                transaction: period("1", 0...30, revoked: day(32), signed: day(32, seconds: 5)),
                renewal: renewing(signed: day(32, seconds: 5), renews: day(60)), status: 1), at: day(32, seconds: 6))
        #expect(listener.events.first?.period?.transactionID == "1")
        #expect(listener.events.first?.value?.status == .active)
        #expect(listener.taken() == ["refunded"])
    }

    @Test("a refund dated before the last report ends what was there, and takes nothing back")
    func refundBeforeCancellation() {
        var listener = Listener.subscriber()
        listener.hear(.switchedOff(signed: day(11)), at: day(11, seconds: 1))
        #expect(listener.taken() == ["cancelled"])
        listener.hear(
            .of("REFUND", period("1", 0...30, revoked: day(10)), signed: day(12), on: false, status: 5),
            at: day(12, seconds: 1))
        #expect(listener.events.map(\.instant) == [day(10), day(10)])
        #expect(listener.events.last?.previous?.status == .cancelled)
        #expect(listener.taken() == ["refunded late", "revoked late"])
    }

    @Test("a second record of a refund with a later date is the same refund, of another share")
    func laterDate() {
        var listener = Listener.subscriber()
        for (instant, share) in [(day(4), Int64(30_000)), (day(9), 100_000)] {
            listener.hear(
                .of("REFUND", period("1", 0...30, revoked: instant, share: share), signed: instant, status: 5),
                at: instant.adding(seconds: 1))
        }
        #expect(listener.events.map(\.instant) == [day(4), day(4), day(4)])
        #expect(listener.events.last?.period?.revokedShare == 100_000)
        #expect(listener.taken() == ["refunded", "revoked", "refunded (correction) late"])
    }

    @Test("another share of the same refund takes the place of what was told")
    func otherShare() {
        var listener = Listener.subscriber()
        for (instant, share) in [(day(4), Int64(30_000)), (day(9), 100_000)] {
            listener.hear(
                .of("REFUND", period("1", 0...30, revoked: day(4), share: share), signed: instant, status: 5),
                at: instant.adding(seconds: 1))
        }
        #expect(listener.events.last?.period?.revokedShare == 100_000)
        #expect(listener.taken() == ["refunded", "revoked", "refunded (correction) late"])
    }

    @Test("what the family no longer shares is revoked, and no refund")
    func family() {
        var listener = Listener()
        listener.hear(.of("SUBSCRIBED", period("1", 0...30, family: true), signed: day(0)), at: day(0, seconds: 1))
        listener.hear(
            .of("REVOKE", period("1", 0...30, revoked: day(4), family: true), signed: day(4), status: 5),
            at: day(4, seconds: 1))
        #expect(listener.taken() == ["started", "revoked"])
    }

    @Test("an end is said to come soon once, by the catalog's days, and only of what nothing renews")
    func warned() {
        var listener = Listener.subscriber()
        listener.rules = EventRules(warningDays: [7, 2])
        listener.runClock(to: day(25))
        #expect(listener.taken() == [])
        listener = Listener.subscriber()
        listener.rules = EventRules(warningDays: [7, 2])
        listener.hear(.switchedOff(signed: day(2)), at: day(2, seconds: 1))
        #expect(listener.nextDue == day(23))
        listener.runClock(to: day(23))
        #expect(listener.taken() == ["cancelled", "expiring_soon"])
        #expect(listener.nextDue == day(28))
        listener.runClock(to: day(29))
        #expect(listener.events.first?.instant == day(28))
        #expect(listener.taken() == ["expiring_soon"])
        #expect(listener.nextDue == day(30))
        listener.runClock(to: day(31))
        #expect(listener.events.first?.instant == day(30))
        #expect(listener.taken() == ["expired"])
        #expect(listener.nextDue == nil)
    }

    @Test("an end is no end where the account's access goes on beyond it; once nothing does, it is said within a day")
    func warnedAsAWhole() {
        func access(until end: Timestamp?, goesOn: Bool = false, _ status: AccountStatus = .active) -> AccountPhase {
            AccountPhase(
                startsAt: day(0), status: status, tier: "pro", source: .apple, expiresAt: end, willRenew: goesOn)
        }
        let beyond = [
            access(until: day(60), goesOn: true), access(until: day(40)), access(until: nil),
            // Staff has taken everything: there is nothing that ends.
            access(until: day(2), .revoked),
        ]
        for access in beyond {
            var listener = Listener.subscriber()
            listener.account = UniqueIdentifier(high: 1, low: 1)
            listener.access = access
            listener.hear(.switchedOff(signed: day(2)), at: day(2, seconds: 1))
            #expect(listener.nextDue(at: day(2, seconds: 1)) == day(23))
            listener.tick(day(23))
            #expect(listener.taken() == ["cancelled"])
            // Each day once more, and after the last of them for the end itself.
            #expect(listener.nextDue(at: day(23)) == day(24))
            #expect(listener.nextDue(at: day(29, seconds: 5)) == day(30))
        }
        var listener = Listener.subscriber()
        listener.account = UniqueIdentifier(high: 1, low: 1)
        listener.access = beyond[0]
        listener.hear(.switchedOff(signed: day(2)), at: day(2, seconds: 1))
        listener.tick(day(23))
        listener.events = []
        // The other one was cancelled, and ends before.
        listener.access = access(until: day(30))
        listener.tick(day(24))
        #expect(listener.taken() == ["expiring_soon late"])
        #expect(listener.nextDue(at: day(24)) == day(30))
    }

    @Test("seats that are added to a period are no renewal; their refund is a refund, and the next period is one")
    func seats() {
        func seats(_ id: String, _ days: ClosedRange<Int64>, renewal: Bool = false, revoked: Timestamp? = nil)
            -> TransactionFact
        {
            var seats = period(id, days, renewal: renewal, revoked: revoked)
            seats.additionalReason = "SEAT_ADDITION"
            return seats
        }
        var listener = Listener.subscriber()
        listener.hear(.of("DID_RENEW", seats("2", 10...30), signed: day(10)), at: day(10, seconds: 1))
        listener.hear(.of("DID_RENEW", seats("3", 11...30), signed: day(11)), at: day(11, seconds: 1))
        #expect(listener.taken() == [])
        listener.hear(
            .of("REFUND", seats("2", 10...30, revoked: day(12)), signed: day(12)), at: day(12, seconds: 1))
        #expect(listener.taken() == ["refunded"])
        listener.hear(
            .of("DID_RENEW", seats("4", 30...60, renewal: true), signed: day(30)),
            .of("DID_RENEW", seats("5", 30...60, renewal: true), signed: day(30, seconds: 1)),
            at: day(30, seconds: 2))
        #expect(listener.taken() == ["renewed"])
        // A purchase that was split; its second part was heard first.
        var other = Listener()
        other.hear(.of("SUBSCRIBED", seats("7", 1...30), signed: day(1)), at: day(1, seconds: 1))
        other.hear(.of("SUBSCRIBED", seats("6", 0...30), signed: day(0)), at: day(1, seconds: 2))
        #expect(other.taken().first == "started" && other.events.isEmpty)
    }

    @Test("what is cancelled shortly before its end is warned of at once, and once")
    func warnedLate() {
        var listener = Listener.subscriber()
        listener.rules = EventRules(warningDays: [7, 2])
        listener.hear(.switchedOff(signed: day(29)), at: day(29, seconds: 1))
        #expect(listener.taken() == ["cancelled", "expiring_soon"])
        listener.runClock(to: day(29, seconds: 60))
        #expect(listener.taken() == [])
    }

    @Test("both accounts are told that a purchase moved, and what follows is told the new one")
    func transferred() {
        let (ann, bob) = (UniqueIdentifier(high: 1, low: 1), UniqueIdentifier(high: 2, low: 2))
        var listener = Listener.subscriber()
        listener.account = ann
        listener.tick(day(1))
        #expect(listener.taken() == [])
        listener.account = bob
        listener.tick(day(2))
        #expect(listener.events.map(\.account) == [ann, bob])
        #expect(listener.events.allSatisfy { $0.move == .init(from: ann, to: bob) })
        #expect(listener.taken() == ["transferred", "transferred"])
        listener.hear(.switchedOff(signed: day(3)), at: day(3, seconds: 1))
        #expect(listener.events.map(\.account) == [bob])
    }
}
