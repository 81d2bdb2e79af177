import AppStorePayloads
import Subscriptions
import Testing

@Suite("A status")
struct StatusRuleTests {
    @Test("begins with the period's first millisecond and ends before its last instant")
    func boundaries() {
        let facts = PurchaseFacts(transactions: [period("1", 0...30)])
        #expect(facts.status(day(0).adding(milliseconds: -1)) == .expired)
        #expect(facts.status(day(0)) == .active)
        #expect(facts.status(day(30).adding(milliseconds: -1)) == .active)
        #expect(facts.status(day(30)) == .expired)
        #expect(facts.status(.distantPast) == .expired)
        #expect(facts.status(.distantFuture) == .expired)
    }

    @Test("is not there for what does not renew by itself, or lacks a date")
    func noSubscription() {
        var consumable = period("1", 0...30)
        consumable.kind = .consumable
        var endless = period("2", 0...30)
        endless.expiresAt = nil
        var unbought = period("3", 0...30)
        unbought.purchasedAt = nil
        #expect(SubscriptionState(PurchaseFacts(transactions: [consumable, endless, unbought])) == nil)
        #expect(SubscriptionState(PurchaseFacts(renewal: renewal(signed: day(0), renews: day(30)))) == nil)
    }

    @Test("a refund of an old period takes nothing from the present one")
    func refundTrap() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30), period("2", 30...60, renewal: true)])
        facts.merge(renewal(signed: day(37), renews: day(60)))
        facts.merge(period("1", 0...30, revoked: day(37), signed: day(37)))
        #expect(facts.status(day(37)) == .active)
        #expect(facts.status(day(59)) == .active)
        #expect(facts.status(day(61)) == .expired)
    }

    @Test("a refund of the present period revokes it, and a reversal, told by absence, brings it back")
    func refundAndReversal() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(period("1", 0...30, revoked: day(7), signed: day(7)))
        #expect(facts.status(day(7).adding(milliseconds: -1)) == .active)
        #expect(facts.status(day(7)) == .revoked)
        #expect(facts.status(day(400)) == .revoked)
        facts.merge(period("1", 0...30, signed: day(12)))
        #expect(facts.status(day(12)) == .active)
        #expect(facts.status(day(31)) == .expired)
        // The refund, arriving once more, is older than the reversal.
        facts.merge(period("1", 0...30, revoked: day(7), signed: day(7)))
        #expect(facts.status(day(12)) == .active)
    }

    @Test("a revocation dated before the purchase leaves no access at all")
    func revokedBeforePurchase() {
        let facts = PurchaseFacts(transactions: [period("1", 0...30, revoked: day(-3))])
        #expect(facts.status(day(0)) == .revoked)
        #expect(facts.status(day(15)) == .revoked)
    }

    @Test("access ends with the upgrade's period although the replaced one would have run longer")
    func upgradeTrap() {
        // The yearly plan's transaction is never sent again; its record says nothing of an upgrade.
        let facts = PurchaseFacts(transactions: [
            period("1", 0...365, product: "yearly"), period("2", 10...40, product: "premium"),
        ])
        let state = SubscriptionState(facts)
        #expect(state?.status(at: day(9)).productID == "yearly")
        #expect(state?.status(at: day(10)).productID == "premium")
        #expect(state?.status(at: day(39)).status == .active)
        #expect(state?.status(at: day(40)).status == .expired)
        #expect(state?.status(at: day(300)).status == .expired)
        #expect(state?.status(at: day(40)).productID == "premium")
    }

    @Test("a renewal that overlaps replaces nothing, unless the record itself says upgraded")
    func overlappingRenewal() {
        let renewed = period("2", 10...20, renewal: true)
        #expect(PurchaseFacts(transactions: [period("1", 0...30), renewed]).status(day(25)) == .active)
        #expect(
            PurchaseFacts(transactions: [period("1", 0...30, upgraded: true), renewed]).status(day(25)) == .expired)
    }

    @Test("an upgraded record without a known successor keeps its access")
    func upgradedAlone() {
        let facts = PurchaseFacts(transactions: [period("1", 0...30, upgraded: true)])
        #expect(facts.status(day(29)) == .active)
    }

    @Test("a renewal charged early keeps access in the day before it begins, and no longer than a day")
    func earlyRenewal() {
        let facts = PurchaseFacts(transactions: [period("2", 30...60, renewal: true, signed: day(28))])
        #expect(facts.status(day(29).adding(milliseconds: -1)) == .expired)
        #expect(facts.status(day(29)) == .active)
        #expect(facts.status(day(30)) == .active)
        let bought = PurchaseFacts(transactions: [period("2", 30...60, signed: day(28))])
        #expect(bought.status(day(29)) == .expired)
    }

    @Test("who was refunded within the day before a renewal that is paid already keeps access")
    func refundedBeforePaidRenewal() {
        let facts = PurchaseFacts(transactions: [
            period("1", 0...30, revoked: day(29, hours: 12), signed: day(29, hours: 12)),
            period("2", 30...60, renewal: true, signed: day(29)),
        ])
        #expect(facts.status(day(29, hours: 13)) == .active)
        #expect(facts.status(day(30)) == .active)
    }

    @Test("an early renewal that is refunded before it begins gives nothing")
    func refundedEarlyRenewal() {
        let facts = PurchaseFacts(transactions: [
            period("1", 0...30), period("2", 30...60, renewal: true, revoked: day(29), signed: day(29)),
        ])
        #expect(facts.status(day(29, hours: 12)) == .active)
        #expect(facts.status(day(30)) == .revoked)
    }

    @Test("auto-renew off is cancelled, also in a trial, which it stays in a column of its own")
    func cancelled() {
        var facts = PurchaseFacts(transactions: [period("1", 0...7, trial: true)])
        #expect(facts.status(day(1)) == .trial)
        facts.merge(renewal(signed: day(2), renews: day(7), on: false))
        let state = SubscriptionState(facts)
        #expect(state?.status(at: day(3)).status == .cancelled)
        #expect(state?.status(at: day(3)).inTrial == true)
        #expect(state?.status(at: day(8)).status == .expired)
        #expect(state?.status(at: day(8)).inTrial == false)
    }

    @Test("grace lasts to Apple's date, and then retries go on to the sixtieth day")
    func graceAndRetry() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(renewal(signed: day(30), renews: day(30), retry: true, grace: day(46)))
        #expect(facts.status(day(30)) == .gracePeriod)
        #expect(facts.status(day(46).adding(milliseconds: -1)) == .gracePeriod)
        #expect(facts.status(day(46)) == .billingRetry)
        #expect(facts.status(day(90).adding(milliseconds: -1)) == .billingRetry)
        #expect(facts.status(day(90)) == .expired)
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

    @Test("renewal info that a later period has overtaken says nothing any more")
    func stale() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(renewal(signed: day(30), renews: day(30), on: false, retry: true, grace: day(120), pending: true))
        #expect(facts.status(day(31)) == .gracePeriod)
        facts.merge(period("2", 40...70, renewal: true))
        let state = SubscriptionState(facts)
        #expect(state?.status(at: day(41)).status == .active)
        #expect(state?.status(at: day(71)).status == .expired)
        #expect(state?.willRenew == true)
        #expect(state?.priceIncreasePending == false)
        // Signed after the period, the same words count.
        facts.merge(renewal(signed: day(41), renews: day(30), on: false, retry: true, grace: day(120), digest: 1))
        #expect(facts.status(day(41)) == .cancelled)
    }

    @Test("an extension that only renewal info tells of counts, but not for what was refunded")
    func extended() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(renewal(signed: day(20), renews: day(44)))
        #expect(facts.status(day(43)) == .active)
        #expect(facts.status(day(44)) == .expired)
        facts.merge(period("1", 0...30, revoked: day(22), signed: day(22)))
        #expect(facts.status(day(23)) == .revoked)
    }

    @Test("a restore repeats a period: the later-signed record of a line item speaks for it")
    func restored() {
        var facts = PurchaseFacts(transactions: [
            period("1", 0...30, item: "w"), period("2", 0...30, item: "w", signed: day(3)),
        ])
        #expect(facts.status(day(8)) == .active)
        facts.merge(period("1", 0...30, item: "w", revoked: day(7), signed: day(7)))
        #expect(facts.status(day(8)) == .revoked)
        // Another period's refund is another line item's.
        facts.merge(period("3", 30...60, item: "x", renewal: true))
        #expect(facts.status(day(31)) == .active)
    }

    @Test("of records signed in one millisecond the digest decides, whatever came first")
    func sameInstant() {
        let plain = period("1", 0...30, signed: day(5), digest: 1)
        let refunded = period("1", 0...30, revoked: day(5), signed: day(5), digest: 2)
        for order in [[plain, refunded], [refunded, plain]] {
            #expect(PurchaseFacts(transactions: order).status(day(6)) == .revoked)
        }
        let off = renewal(signed: day(5), renews: day(30), on: false, digest: 1)
        let on = renewal(signed: day(5), renews: day(30), on: true, digest: 2)
        for order in [[off, on], [on, off]] {
            var facts = PurchaseFacts(transactions: [plain])
            for renewal in order { facts.merge(renewal) }
            #expect(facts.status(day(6)) == .active)
        }
        var reportedStatuses = PurchaseFacts()
        for status in [3, 4, 2] { reportedStatuses.merge(ReportedStatus(status: status, signedAt: day(5))) }
        #expect(reportedStatuses.reportedStatus?.status == 4)
    }

    @Test("a record that is replaced keeps none of its fields")
    func wholeRecords() {
        let token = UniqueIdentifier(high: 1, low: 2)
        var facts = PurchaseFacts(transactions: [period("1", 0...30, item: "w", trial: true, token: token)])
        #expect(SubscriptionState(facts)?.appAccountToken == token)
        facts.merge(period("1", 0...30, signed: day(2)))
        #expect(SubscriptionState(facts)?.appAccountToken == nil)
        #expect(facts.status(day(3)) == .active)
    }

    @Test("the account is the latest-signed record's that names one, a renewal's too")
    func account() {
        let (old, new) = (UniqueIdentifier(high: 1, low: 1), UniqueIdentifier(high: 0, low: 2))
        var facts = PurchaseFacts(transactions: [period("1", 0...30), period("2", 30...60, renewal: true, token: old)])
        #expect(SubscriptionState(facts)?.appAccountToken == old)
        facts.merge(period("3", 60...90, renewal: true))
        #expect(SubscriptionState(facts)?.appAccountToken == old)
        facts.merge(renewal(signed: day(70), renews: day(90), token: new))
        #expect(SubscriptionState(facts)?.appAccountToken == new)
    }

    @Test("gives access or not, and has Apple's number", arguments: SubscriptionStatus.allCases)
    func columns(_ status: SubscriptionStatus) {
        #expect(status.access == [.trial, .active, .cancelled, .gracePeriod].contains(status))
        let numbers: [SubscriptionStatus: Int] = [
            .trial: 1, .active: 1, .cancelled: 1, .expired: 2, .billingRetry: 3, .gracePeriod: 4, .revoked: 5,
        ]
        #expect(status.appleStatus == numbers[status])
    }

    @Test("dates at the ends of time end nothing but themselves")
    func extremes() {
        var facts = PurchaseFacts(transactions: [
            TransactionFact(
                transactionID: "1", purchasedAt: .distantPast, expiresAt: .distantFuture, isRenewal: true,
                signedAt: .distantPast, digest: digest(0))
        ])
        facts.merge(renewal(signed: .distantFuture, renews: .distantFuture, retry: true, grace: .distantFuture))
        #expect(facts.status(day(0)) == .active)
        #expect(SubscriptionState(facts)?.phases.isEmpty == false)
    }

    @Test("what was heard last never goes back, and what is paid ends with the latest period")
    func heardAndPaid() {
        var facts = PurchaseFacts()
        #expect(facts.asOf == nil)
        facts.merge(period("2", 30...60, renewal: true, signed: day(29)))
        facts.merge(period("1", 0...30))
        #expect(facts.asOf == day(29))
        #expect(SubscriptionState(facts)?.paidUntil == day(60))
        facts.merge(ReportedStatus(status: 1, signedAt: day(31)))
        facts.merge(renewal(signed: day(30), renews: day(60)))
        #expect(facts.asOf == day(31))
        facts.merge(renewal(signed: day(33), renews: day(60)))
        #expect(facts.asOf == day(33))
        facts.merge(period("2", 30...60, renewal: true, revoked: day(40), signed: day(40)))
        #expect(facts.asOf == day(40))
        #expect(SubscriptionState(facts)?.paidUntil == day(40))
    }

    @Test("of a record it is known whether it is the very one that stands")
    func sameRecord() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        #expect(facts.holds(period("1", 0...30)))
        #expect(!facts.holds(period("1", 0...30, digest: 1)))
        #expect(!facts.holds(period("2", 0...30)))
        #expect(!facts.holds(renewal(signed: day(0), renews: day(30))))
        facts.merge(renewal(signed: day(0), renews: day(30)))
        #expect(facts.holds(renewal(signed: day(0), renews: day(30))))
        #expect(!facts.holds(renewal(signed: day(1), renews: day(30))))
    }

    @Test("is another line's business where app, environment or identifier differ")
    func lines() {
        let line = PurchaseKey(environment: "Sandbox", bundleID: "a", originalTransactionID: "1")
        var others = [line, line, line]
        others[0].environment = "Production"
        others[1].bundleID = "b"
        others[2].originalTransactionID = "2"
        #expect(Set(others + [line]).count == 4)
        #expect((others + [line]).sorted() == (others.reversed() + [line]).sorted())
    }
}
