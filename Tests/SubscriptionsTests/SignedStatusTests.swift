import AppStorePayloads
import Base
import Subscriptions
import Testing

@Suite("A status that Apple signed")
struct SignedStatusTests {
    private static let bought = period("1", 0...30)

    // MARK: - Grace

    @Test("4 with a grace date ahead is grace although the retry flag is left out, whichever came first")
    func graceWithoutFlag() {
        let told = renewal(signed: day(30), renews: day(30), grace: day(46), reported: 4)
        for reported in [day(30), day(30, hours: 5), day(29, hours: 20)] {
            var facts = PurchaseFacts(transactions: [Self.bought], renewals: [told])
            facts.merge(ReportedStatus(status: 4, signedAt: reported))
            #expect(facts.status(day(32)) == .gracePeriod)
            #expect(facts.value(day(32))?.basis == .records)
            #expect(facts.value(day(32))?.graceEndsAt == day(46))
            #expect(facts.status(day(46).adding(milliseconds: -1)) == .gracePeriod)
            // Throughout grace Apple retries, and goes on.
            #expect(facts.status(day(46)) == .billingRetry)
            #expect(facts.status(day(90)) == .expired)
        }
        // Asked for once more, Apple signs the same anew.
        var repeated = PurchaseFacts(transactions: [Self.bought], renewals: [told])
        repeated.merge(ReportedStatus(status: 4, signedAt: day(30)))
        repeated.merge(renewal(signed: day(33), renews: day(30), grace: day(46), digest: 1))
        #expect(repeated.status(day(34)) == .gracePeriod && repeated.anomalies == [])
    }

    @Test("4 is ended by a flag that says no, by a period that is paid, and by 2 or 3")
    func graceEnds() {
        var facts = PurchaseFacts(
            transactions: [Self.bought],
            renewals: [renewal(signed: day(30), renews: day(30), grace: day(46), reported: 4)])
        facts.merge(ReportedStatus(status: 4, signedAt: day(30)))
        var denied = facts
        denied.merge(renewal(signed: day(32), renews: day(30), retry: false, grace: day(46), digest: 1))
        #expect(denied.status(day(31)) == .gracePeriod && denied.status(day(32)) == .expired)
        var paid = facts
        paid.merge(period("2", 33...63, renewal: true))
        #expect(paid.status(day(32)) == .gracePeriod && paid.status(day(33)) == .active)
        #expect(paid.status(day(63)) == .expired)
        for (status, then) in [(2, SubscriptionStatus.expired), (3, .billingRetry)] {
            var ended = facts
            ended.merge(ReportedStatus(status: status, signedAt: day(34)))
            #expect(ended.status(day(33)) == .gracePeriod && ended.status(day(34)) == then)
            #expect(ended.anomalies == [])
        }
        // "In grace" and "not retrying" in one notification: the date is left over.
        var contradictory = PurchaseFacts(
            transactions: [Self.bought],
            renewals: [renewal(signed: day(30), renews: day(30), retry: false, grace: day(46), reported: 4)])
        contradictory.merge(ReportedStatus(status: 4, signedAt: day(30)))
        #expect(contradictory.status(day(31)) == .expired)
        #expect(contradictory.anomalies.map(\.kind) == [.statusContradicted])
    }

    @Test("is needed: a grace date with neither 4 nor the flag gives nothing, and so does one beside another status")
    func dateAlone() {
        for status in [nil, 1, 2, 3, 5] as [Int?] {
            var facts = PurchaseFacts(
                transactions: [Self.bought],
                renewals: [renewal(signed: day(29), renews: day(30), grace: day(46))])
            if let status { facts.merge(ReportedStatus(status: status, signedAt: day(29))) }
            #expect(facts.status(day(31))?.access == false, "\(String(describing: status))")
        }
        let flagged = PurchaseFacts(
            transactions: [Self.bought],
            renewals: [renewal(signed: day(30), renews: day(30), retry: true, grace: day(46))])
        #expect(flagged.status(day(31)) == .gracePeriod)
    }

    @Test("of an earlier failure gives no grace to a later period")
    func earlierFailure() {
        var facts = PurchaseFacts(transactions: [Self.bought])
        facts.merge(ReportedStatus(status: 4, signedAt: day(30)))
        facts.merge(period("2", 33...63, renewal: true))
        facts.merge(renewal(signed: day(62), renews: day(63), grace: day(79)))
        #expect(facts.status(day(64)) == .expired)
    }

    // MARK: - Unknown values

    @Test("and that this release does not know decides nothing", arguments: [6, 0, 7, -1, Int.max, Int.min])
    func unknown(_ status: Int) {
        var facts = PurchaseFacts(transactions: [Self.bought])
        facts.merge(renewal(signed: day(5), renews: day(30), reported: status))
        facts.merge(ReportedStatus(status: status, signedAt: day(5)))
        #expect(facts.status(day(6)) == .active && facts.status(day(29)) == .active)
        #expect(facts.status(day(31)) == .expired)
        #expect(facts.anomalies == [])
        #expect(facts.value(day(6))?.basis == .records)
        // Neither does it end what a known one decides.
        facts.merge(ReportedStatus(status: 1, signedAt: day(40)))
        facts.merge(ReportedStatus(status: status, signedAt: day(40, hours: 1)))
        #expect(facts.status(day(40, hours: 2)) == .active)
        // Beside a renewalDate beyond all known periods an unknown status says as much as none: an extension.
        var extended = PurchaseFacts(transactions: [Self.bought])
        extended.merge(renewal(signed: day(20), renews: day(44), reported: status))
        #expect(extended.status(day(40)) == .active)
    }

    @Test("does not wait for less because a reason for the end is one that nobody knows")
    func unknownIntent() {
        let facts = PurchaseFacts(
            transactions: [Self.bought], renewals: [renewal(signed: day(1), renews: day(30), intent: 9)])
        let policy = StatusPolicy(renewalLeewaySeconds: 600)
        #expect(SubscriptionState(facts, policy: policy)?.status(at: day(30))?.status == .active)
    }

    // MARK: - What the records do not explain

    @Test(
        "holds against records that repeat what was known, as Apple's answers do, and ends with one that says something new"
    )
    func repetition() {
        for status in [2, 5] {
            let told = renewal(signed: day(0), renews: day(30))
            var facts = PurchaseFacts(transactions: [Self.bought], renewals: [told])
            facts.merge(ReportedStatus(status: status, signedAt: day(10)))
            let then: SubscriptionStatus = status == 2 ? .expired : .revoked
            #expect(facts.status(day(9)) == .active && facts.status(day(10)) == then)
            #expect(facts.anomalies.map(\.kind) == [.statusContradicted])
            // What Apple is asked a minute later it signs anew.
            facts.merge(period("1", 0...30, signed: day(10).adding(seconds: 60), digest: 1))
            facts.merge(renewal(signed: day(10).adding(seconds: 60), renews: day(30), digest: 2))
            #expect(facts.status(day(29)) == then)
            // After the known periods, too, but for the leeway that the newest word gives.
            #expect(facts.status(day(30)) == then && facts.status(day(400)) == then)
            let waiting = SubscriptionState(facts, policy: StatusPolicy(renewalLeewaySeconds: 600))
            #expect(waiting?.status(at: day(29))?.status == then && waiting?.status(at: day(30))?.status == .active)
            #expect(waiting?.status(at: day(31))?.status == then)
            var told2 = facts
            told2.merge(renewal(signed: day(12), renews: day(30), on: false, digest: 3))
            #expect(told2.status(day(11)) == then && told2.status(day(12)) == .cancelled)
            var changed = facts
            changed.merge(period("1", 0...30, token: UniqueIdentifier(high: 1, low: 1), signed: day(13), digest: 4))
            #expect(changed.status(day(12)) == then && changed.status(day(13)) == .active)
            // Signed before the report, it is about an earlier time, whenever it comes.
            var earlier = facts
            earlier.merge(renewal(signed: day(8), renews: day(30), on: false, digest: 5))
            #expect(earlier.status(day(11)) == then)
            // And what comes to be known of before makes a later record a repetition.
            earlier.merge(renewal(signed: day(12), renews: day(30), on: false, digest: 6))
            #expect(earlier.status(day(12)) == then)
        }
    }

    @Test("is ended by the next one, which is then judged by itself")
    func nextReport() {
        var facts = PurchaseFacts(transactions: [Self.bought])
        facts.merge(ReportedStatus(status: 5, signedAt: day(10)))
        facts.merge(ReportedStatus(status: 1, signedAt: day(12)))
        #expect(facts.status(day(11)) == .revoked && facts.status(day(12)) == .active)
        #expect(facts.value(day(12))?.basis == .records)
        facts.merge(ReportedStatus(status: 2, signedAt: day(14)))
        #expect(facts.status(day(13)) == .active && facts.status(day(14)) == .expired)
    }

    @Test("1 holds to the renewalDate or expiresDate that it came with, without one ahead for a day")
    func active() {
        let refunded = period("1", 0...30, revoked: day(5), signed: day(5))
        // The reversal is lost; the notification about it would have had the transaction.
        var facts = PurchaseFacts(transactions: [refunded])
        facts.merge(renewal(signed: day(10), renews: day(30), reported: 1))
        facts.merge(ReportedStatus(status: 1, signedAt: day(10)))
        #expect(facts.status(day(9)) == .revoked && facts.status(day(10)) == .active)
        #expect(facts.status(day(29)) == .active && facts.status(day(30)) == .revoked)
        #expect(facts.value(day(10))?.basis == .reportedStatus && facts.value(day(10))?.expiresAt == day(30))
        // Renewal info that it did not come with says nothing of how long.
        var alone = PurchaseFacts(transactions: [refunded], renewals: [renewal(signed: day(4), renews: day(30))])
        alone.merge(ReportedStatus(status: 1, signedAt: day(10)))
        #expect(alone.status(day(10, hours: 23)) == .active && alone.status(day(11)) == .revoked)
        // What the transaction beside it says is as good.
        var dated = PurchaseFacts(transactions: [refunded])
        dated.merge(period("1", 0...30, revoked: day(5), signed: day(10), digest: 1))
        dated.merge(ReportedStatus(status: 1, signedAt: day(10)))
        #expect(dated.status(day(29)) == .active && dated.status(day(30)) == .revoked)
    }

    @Test("is known to hold as long as what it came with, also where Apple said something else before")
    func knownEnd() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30, revoked: day(5), signed: day(5))])
        facts.merge(renewal(signed: day(10), renews: day(30), reported: 1))
        facts.merge(ReportedStatus(status: 1, signedAt: day(10)))
        facts.merge(renewal(signed: day(12), renews: day(30), on: false, reported: 5, digest: 1))
        facts.merge(ReportedStatus(status: 5, signedAt: day(12)))
        #expect(facts.status(day(11)) == .active && facts.status(day(12)) == .revoked)
        #expect(facts.value(day(11))?.expiresAt == day(30))
        var grace = PurchaseFacts(transactions: [Self.bought])
        grace.merge(renewal(signed: day(10), renews: day(30), grace: day(36), reported: 4))
        grace.merge(ReportedStatus(status: 4, signedAt: day(10)))
        grace.merge(ReportedStatus(status: 1, signedAt: day(12)))
        #expect(grace.status(day(11)) == .gracePeriod && grace.status(day(12)) == .active)
        #expect(grace.value(day(11))?.graceEndsAt == day(36))
    }

    @Test("1 after a lost reversal is of the period that was refunded, also where its end has been moved since")
    func extendedSince() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30, revoked: day(5), signed: day(5))])
        facts.merge(renewal(signed: day(10), renews: day(30), on: false, reported: 1))
        facts.merge(ReportedStatus(status: 1, signedAt: day(10)))
        facts.merge(period("1", 0...44, signed: day(12), digest: 1))
        #expect(facts.value(day(10))?.basis == .reportedStatus && facts.status(day(10)) == .cancelled)
        #expect(facts.status(day(43)) == .cancelled && facts.status(day(44)) == .expired)
        #expect(facts.anomalies.map(\.kind) == [.statusContradicted])
        // The customer bought nothing again.
        #expect(SubscriptionState(facts)?.stretchEnds == [])
    }

    @Test("2 holds to the renewalDate that it came with; nothing but a word ends it where no period is known to run")
    func ended() {
        var facts = PurchaseFacts(transactions: [Self.bought])
        facts.merge(renewal(signed: day(10), renews: day(20), reported: 2))
        facts.merge(ReportedStatus(status: 2, signedAt: day(10)))
        #expect(facts.status(day(10)) == .expired && facts.status(day(19)) == .expired)
        #expect(facts.status(day(20)) == .active)
        // That date is the end of all that is known: nobody has access then, and Apple said why.
        for status in [2, 5] {
            var last = PurchaseFacts(transactions: [Self.bought])
            last.merge(renewal(signed: day(10), renews: day(30), reported: status))
            last.merge(ReportedStatus(status: status, signedAt: day(10)))
            #expect([day(10), day(30), day(400)].allSatisfy { last.value($0)?.status.appleStatus == status })
        }
        var over = PurchaseFacts(transactions: [Self.bought])
        over.merge(ReportedStatus(status: 5, signedAt: day(40)))
        #expect(
            over.status(day(39)) == .expired && over.status(day(40)) == .revoked && over.status(day(400)) == .revoked)
        over.merge(period("2", 50...80, signed: day(60)))
        // A purchase has a date of its own, whenever it is signed.
        #expect(over.status(day(49)) == .revoked && over.status(day(50)) == .active)
    }

    @Test("3 holds as long as Apple retries, and 4 to the end of grace")
    func failing() {
        for expiry in [nil, day(28)] {
            var facts = PurchaseFacts(transactions: [Self.bought])
            if let expiry { facts.merge(renewal(signed: day(10), renews: expiry, reported: 3)) }
            facts.merge(ReportedStatus(status: 3, signedAt: day(10)))
            let end = (expiry ?? day(30)).adding(days: 60)
            #expect(facts.status(day(10)) == .billingRetry)
            #expect(facts.status(end.adding(milliseconds: -1)) == .billingRetry && facts.status(end) == .expired)
        }
        for (expiry, grace) in [(nil, nil), (day(28), nil), (nil, day(36)), (day(28), day(36))]
            as [(Timestamp?, Timestamp?)]
        {
            var facts = PurchaseFacts(transactions: [Self.bought])
            facts.merge(
                renewal(signed: day(10), renews: expiry, grace: grace, reported: 4))
            facts.merge(ReportedStatus(status: 4, signedAt: day(10)))
            let end = grace ?? (expiry ?? day(30)).adding(days: 16)
            #expect(facts.value(day(10))?.basis == .reportedStatus && facts.value(day(10))?.graceEndsAt == end)
            #expect(facts.status(end.adding(milliseconds: -1)) == .gracePeriod)
            #expect(facts.value(end)?.basis == .records)
        }
    }

    @Test("is not ended by what nobody signed")
    func unsigned() {
        var facts = PurchaseFacts(transactions: [Self.bought])
        facts.merge(ReportedStatus(status: 5, signedAt: day(10)))
        var said = renewal(signed: day(12), renews: day(30), on: false, digest: 1)
        said.isUnsigned = true
        facts.merge(said)
        #expect(facts.status(day(13)) == .revoked)
    }
}
