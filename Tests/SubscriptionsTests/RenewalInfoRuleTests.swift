import AppStorePayloads
import Base
import Subscriptions
import Testing

@Suite("A status, by renewal info and reports")
struct RenewalInfoRuleTests {
    @Test("grace lasts to Apple's date, and then retries go on to the sixtieth day")
    func graceAndRetry() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(renewal(signed: day(30), renews: day(30), retry: true, grace: day(46)))
        #expect(facts.status(day(30)) == .gracePeriod)
        #expect(facts.status(day(46).adding(milliseconds: -1)) == .gracePeriod)
        #expect(facts.status(day(46)) == .billingRetry)
        #expect(facts.status(day(90).adding(milliseconds: -1)) == .billingRetry)
        #expect(facts.status(day(90)) == .expired)
        // A date left over beside "not retrying" gives nothing, and neither does one that Apple's status contradicts.
        var ended = facts
        ended.merge(renewal(signed: day(35), renews: day(30), on: false, grace: day(46), reported: 2, intent: 1))
        #expect(ended.status(day(34)) == .gracePeriod)
        #expect(ended.status(day(36)) == .expired)
        facts.merge(ReportedStatus(status: 3, signedAt: day(40)))
        #expect(facts.status(day(39)) == .gracePeriod)
        #expect(facts.status(day(41)) == .billingRetry)
    }

    @Test(
        "grace without a date lasts as long as the operator says, from the end of what was paid",
        arguments: [3, 16, 28] as [Int64])
    func graceWithoutDate(graceDays: Int64) {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(renewal(signed: day(30), renews: day(30), retry: true))
        facts.merge(ReportedStatus(status: 4, signedAt: day(30)))
        let end = day(30 + graceDays)
        #expect(facts.status(end.adding(milliseconds: -1), graceDays: graceDays) == .gracePeriod)
        #expect(facts.status(end, graceDays: graceDays) == .billingRetry)
        // Apple says that it is over.
        facts.merge(ReportedStatus(status: 3, signedAt: day(32)))
        #expect(facts.status(day(32), graceDays: graceDays) == .billingRetry)
    }

    @Test("a reportedStatus of grace speaks of the failure it was given for, and of no later period")
    func oldVerdict() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(ReportedStatus(status: 4, signedAt: day(30)))
        facts.merge(period("2", 30...60, renewal: true, signed: day(33)))
        #expect(facts.status(day(34)) == .active)
        #expect(facts.status(day(61)) == .expired)
    }

    @Test("renewal info that a later period has overtaken says nothing any more, from that period on")
    func stale() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(renewal(signed: day(30), renews: day(30), on: false, retry: true, grace: day(120), pending: true))
        #expect(facts.status(day(31)) == .gracePeriod)
        facts.merge(period("2", 40...70, renewal: true))
        #expect(facts.status(day(31)) == .gracePeriod)
        #expect(facts.status(day(41)) == .active)
        #expect(facts.status(day(71)) == .expired)
        #expect(facts.value(day(41))?.willRenew == true)
        #expect(facts.value(day(41))?.priceIncreasePending == false)
        // Signed after the period, the same words count.
        facts.merge(renewal(signed: day(42), renews: day(30), on: false, retry: true, grace: day(120), digest: 1))
        #expect(facts.status(day(41)) == .active)
        #expect(facts.status(day(42)) == .cancelled)
    }

    @Test("older renewal info does not stretch a newer, shorter period")
    func shorterPeriod() {
        var facts = PurchaseFacts(transactions: [period("1", 0...365, product: "yearly")])
        facts.merge(renewal(signed: day(0), renews: day(365), product: "yearly", reported: 1))
        facts.merge(period("2", 10...17, product: "weekly"))
        #expect(facts.status(day(16)) == .active)
        #expect(facts.status(day(18)) == .expired)
        #expect(facts.value(day(11))?.expiresAt == day(17))
    }

    @Test("an extension that only renewal info tells of counts, but not for what was refunded")
    func extended() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(renewal(signed: day(20), renews: day(44)))
        #expect(facts.status(day(43)) == .active)
        #expect(facts.status(day(44)) == .expired)
        #expect(facts.value(day(21))?.expiresAt == day(44))
        #expect(facts.value(day(19))?.periodEndsAt == day(30) && facts.value(day(21))?.periodEndsAt == day(44))
        facts.merge(period("1", 0...30, revoked: day(22), signed: day(22)))
        #expect(facts.status(day(23)) == .revoked)
    }

    @Test("an end that renewal info moves is that of the period that runs, unless the next one may be charged already")
    func movedEnd() {
        func ends(_ renewal: RenewalFact, beside others: TransactionFact...) -> [Timestamp?] {
            let facts = PurchaseFacts(transactions: [period("1", 0...30)] + others, renewals: [renewal])
            let value = facts.value(day(29, hours: 23))
            return [value?.periodEndsAt, value?.expiresAt]
        }
        let moment = day(29).adding(milliseconds: -1)
        #expect(ends(renewal(signed: moment, renews: day(60), reported: 1)) == [day(60), day(60)])
        #expect(ends(renewal(signed: day(29), renews: day(60), reported: 1)) == [day(30), day(60)])
        #expect(ends(renewal(signed: moment, renews: day(60), product: nil, reported: 1)) == [day(60), day(60)])
        // What is newer and says the old end knows better, and what was charged for since is what it speaks of.
        let again = period("1", 0...30, signed: day(29, hours: 2), digest: 1)
        #expect(ends(renewal(signed: moment, renews: day(60), reported: 1), beside: again) == [day(30), day(60)])
        let next = period("2", 30...50, renewal: true, signed: day(28, hours: 23))
        #expect(ends(renewal(signed: moment, renews: day(60), reported: 1), beside: next) == [day(30), day(60)])
    }

    @Test(
        "a refund, or the request for one, of an old period as the first that is heard tells of a later one that is paid",
        arguments: [true, false])
    func laterPeriodUnheard(isRefunded: Bool) {
        let old = period(
            "1", 0...7, trial: true, revoked: isRefunded ? day(40) : nil, signed: day(40))
        var facts = PurchaseFacts(transactions: [old])
        facts.merge(renewal(signed: day(40), renews: day(67), reported: 1))
        facts.merge(ReportedStatus(status: 1, signedAt: day(40)))
        #expect(facts.status(day(41)) == .active)
        #expect(facts.value(day(41))?.inTrial == false)
        #expect(facts.value(day(41))?.expiresAt == day(67))
        #expect(facts.value(day(41))?.basis == .renewalInfo)
        #expect(facts.status(day(68)) == .expired)
        #expect(facts.status(day(3)) == .trial)
        #expect(facts.anomalies.map(\.kind) == [.periodMissing])
        // It heals with the period.
        facts.merge(period("2", 37...67, renewal: true))
        #expect(facts.status(day(38)) == .active)
        #expect(facts.anomalies.isEmpty)
    }

    @Test("what was refunded is not taken for a period unheard because older renewal info goes on")
    func refundBesideOlderRenewalInfo() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(renewal(signed: day(20), renews: day(30), reported: 1))
        facts.merge(period("1", 0...30, revoked: day(22), signed: day(23)))
        #expect(facts.status(day(21)) == .active)
        #expect(facts.status(day(22)) == .revoked)
        #expect(facts.status(day(29)) == .revoked)
    }

    @Test("where the records cannot explain what Apple reported, that decides for a day, or until the renewalDate")
    func unexplainedReport() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(ReportedStatus(status: 1, signedAt: day(40)))
        #expect(facts.status(day(39)) == .expired)
        #expect(facts.status(day(40)) == .active)
        #expect(facts.value(day(40))?.basis == .reportedStatus)
        #expect(facts.value(day(40))?.expiresAt == day(41))
        #expect(facts.status(day(41)) == .expired)
        #expect(facts.anomalies.map(\.kind) == [.statusContradicted])
        #expect(facts.anomalies.first?.reportedStatus == 1)
        #expect(facts.anomalies.first?.derivedStatus == 2)
        // A later word ends it.
        facts.merge(period("2", 60...90, signed: day(40, hours: 2)))
        #expect(facts.status(day(40, hours: 1)) == .active)
        #expect(facts.status(day(40, hours: 3)) == .expired)
        var revoked = PurchaseFacts(transactions: [period("1", 0...30)])
        revoked.merge(renewal(signed: day(5), renews: day(30), reported: 5))
        revoked.merge(ReportedStatus(status: 5, signedAt: day(5)))
        #expect(revoked.status(day(29)) == .revoked)
    }

    @Test("a refund that is told some seconds after its date contradicts nothing that was reported between")
    func reportedBetween() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(ReportedStatus(status: 1, signedAt: day(10).adding(seconds: 2)))
        facts.merge(period("1", 0...30, revoked: day(10), signed: day(10).adding(seconds: 5)))
        facts.merge(ReportedStatus(status: 5, signedAt: day(10).adding(seconds: 5)))
        #expect(facts.anomalies.isEmpty)
        #expect(facts.status(day(10).adding(seconds: 3)) == .revoked)
    }
}
