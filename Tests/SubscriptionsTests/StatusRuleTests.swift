import AppStorePayloads
import Base
import Subscriptions
import Testing

@Suite("A status")
struct StatusRuleTests {
    @Test("begins with the period's first millisecond and ends before its last instant")
    func boundaries() {
        let facts = PurchaseFacts(transactions: [period("1", 0...30)])
        #expect(facts.status(day(0).adding(milliseconds: -1)) == nil)
        #expect(facts.status(day(0)) == .active)
        #expect(facts.status(day(30).adding(milliseconds: -1)) == .active)
        #expect(facts.status(day(30)) == .expired)
        #expect(facts.status(.distantPast) == nil)
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
        #expect(SubscriptionState(PurchaseFacts(renewals: [renewal(signed: day(0), renews: day(30))])) == nil)
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
        // What was true in between stays true of it.
        #expect(facts.status(day(8)) == .revoked)
        #expect(facts.status(day(6)) == .active)
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
        #expect(state?.status(at: day(9))?.productID == "yearly")
        #expect(state?.status(at: day(10))?.productID == "premium")
        #expect(state?.status(at: day(39))?.status == .active)
        #expect(state?.status(at: day(40))?.status == .expired)
        #expect(state?.status(at: day(300))?.status == .expired)
        #expect(state?.status(at: day(40))?.productID == "premium")
    }

    @Test("any later period ends the one it begins in, a renewal too: its upgrade was lost")
    func overlappingRenewal() {
        let facts = PurchaseFacts(transactions: [
            period("1", 0...365, product: "yearly"), period("3", 40...70, product: "premium", renewal: true),
        ])
        #expect(facts.status(day(39)) == .active)
        #expect(facts.status(day(69)) == .active)
        #expect(facts.status(day(71)) == .expired)
        #expect(facts.value(day(41))?.productID == "premium")
        // It was to run for a year as far as anybody knew.
        #expect(facts.value(day(39))?.expiresAt == day(365))
        #expect(facts.value(day(41))?.expiresAt == day(70))
    }

    @Test("a renewal of the last day that was refunded takes nothing from the period it was to follow")
    func refundedOverlappingRenewal() {
        var facts = PurchaseFacts(transactions: [
            period("1", 0...30),
            TransactionFact(
                transactionID: "2", productID: "basic", purchasedAt: day(29, hours: 12), expiresAt: day(60),
                revokedAt: day(29, hours: 13), reason: .renewal, signedAt: day(29, hours: 13), digest: digest(1)),
        ])
        facts.merge(ReportedStatus(status: 5, signedAt: day(29, hours: 13)))
        #expect(facts.status(day(29, hours: 14)) == .active)
        #expect(facts.status(day(30)) == .revoked)
        #expect(facts.anomalies.isEmpty)
    }

    @Test("an upgraded record without a known successor keeps its access")
    func upgradedAlone() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30, upgraded: true)])
        #expect(facts.status(day(29)) == .active)
        #expect(facts.anomalies.map(\.kind) == [.upgradeMissing])
        // Renewal info that is not older says when what replaced it ends.
        facts.merge(renewal(signed: day(5), renews: day(12), product: "premium", reported: 1))
        #expect(facts.status(day(11)) == .active)
        #expect(facts.status(day(12)) == .expired)
    }

    @Test("a renewal charged early keeps access from then on, and for no longer than a day")
    func earlyRenewal() {
        let facts = PurchaseFacts(transactions: [period("2", 30...60, renewal: true, signed: day(28))])
        #expect(facts.status(day(29).adding(milliseconds: -1)) == nil)
        #expect(facts.status(day(29)) == .active)
        #expect(facts.status(day(30)) == .active)
        let bought = PurchaseFacts(transactions: [period("2", 30...60, signed: day(28))])
        #expect(bought.status(day(29)) == nil)
        // Recovered on day 40, it was in billing retry until then, also within the day before.
        var recovered = PurchaseFacts(transactions: [
            period("1", 0...30), period("2", 40...70, renewal: true, signed: day(40)),
        ])
        recovered.merge(renewal(signed: day(30), renews: day(30), retry: true))
        recovered.merge(renewal(signed: day(40), renews: day(70), digest: 1))
        #expect(recovered.status(day(39, hours: 12)) == .billingRetry)
        #expect(recovered.status(day(40)) == .active)
    }

    @Test("what is paid in one stretch ends with the renewal that is charged already, unless it is of another product")
    func stretch() {
        let early = day(29, hours: 4)
        var facts = PurchaseFacts(transactions: [
            period("1", 0...30), period("2", 30...60, renewal: true, signed: early),
        ])
        #expect(facts.value(day(29))?.expiresAt == day(30))
        #expect(facts.value(early)?.expiresAt == day(60))
        #expect(facts.value(early)?.accessUntil == day(60))
        #expect(facts.value(early)?.periodEndsAt == day(30))
        facts.merge(period("3", 60...90, product: "lesser", renewal: true, signed: day(59, hours: 4)))
        #expect(facts.value(day(59, hours: 5))?.expiresAt == day(60))
        #expect(facts.value(day(60))?.productID == "lesser")
        #expect(facts.value(day(60))?.expiresAt == day(90))
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
        #expect(facts.status(day(1)) == .trial)
        #expect(facts.value(day(1))?.willRenew == nil)
        let state = SubscriptionState(facts)
        #expect(state?.status(at: day(3))?.status == .cancelled)
        #expect(state?.status(at: day(3))?.inTrial == true)
        #expect(state?.status(at: day(8))?.status == .expired)
        #expect(state?.status(at: day(8))?.inTrial == false)
    }

    @Test("a purchase dated a second after its own signature has begun when it was signed")
    func clockDifference() {
        let facts = PurchaseFacts(transactions: [period("1", 0...30, signed: day(0).adding(seconds: -1))])
        #expect(facts.status(day(0).adding(seconds: -1)) == .active)
    }

    @Test("auto-renew that is neither on nor off is unknown")
    func unknownAutoRenew() throws {
        let json = #"{"originalTransactionId":"1","signedDate":1,"autoRenewStatus":7}"#
        let fact = RenewalFact(try RenewalInfoPayload.decode(Array(json.utf8)), digest: digest(0))
        #expect(fact.autoRenew == nil)
    }

    @Test("a price increase waits for its answer until the answer, auto-renew switched off, or the end")
    func priceIncrease() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(renewal(signed: day(10), renews: day(30), pending: true))
        #expect(facts.value(day(11))?.priceIncreasePending == true)
        #expect(facts.value(day(31))?.priceIncreasePending == false)
        facts.merge(renewal(signed: day(12), renews: day(30), on: false, intent: 3, pending: true))
        #expect(facts.value(day(11))?.priceIncreasePending == true)
        #expect(facts.value(day(13))?.priceIncreasePending == false)
    }

    @Test("a transaction without a kind or a date gives nothing, and says so")
    func unusable() {
        var kindless = period("1", 0...30)
        kindless.kind = nil
        var endless = period("2", 0...30)
        endless.expiresAt = nil
        let facts = PurchaseFacts(transactions: [period("3", 0...30), kindless, endless])
        #expect(facts.anomalies.map(\.kind) == [.transactionUnusable, .transactionUnusable])
        #expect(facts.anomalies.map(\.transactionID) == ["1", "2"])
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
        #expect(reportedStatuses.reportedStatuses.last?.status == 4)
    }

    @Test("a record that is replaced keeps none of its fields")
    func wholeRecords() {
        let token = UniqueIdentifier(high: 1, low: 2)
        var facts = PurchaseFacts(transactions: [period("1", 0...30, trial: true, token: token)])
        #expect(SubscriptionState(facts)?.last.value.appAccountToken == token)
        facts.merge(period("1", 0...30, signed: day(2)))
        #expect(SubscriptionState(facts)?.last.value.appAccountToken == nil)
        #expect(facts.status(day(3)) == .active)
    }

    @Test("the account is that of the period that counts; renewal info speaks of the coming one")
    func account() {
        let (old, new) = (UniqueIdentifier(high: 9, low: 1), UniqueIdentifier(high: 0, low: 2))
        var facts = PurchaseFacts(transactions: [period("1", 0...30, token: old)])
        facts.merge(renewal(signed: day(0), renews: day(30), token: new))
        #expect(facts.value(day(1))?.appAccountToken == old)
        facts.merge(period("2", 30...60, renewal: true, token: new))
        #expect(facts.value(day(1))?.appAccountToken == old)
        #expect(facts.value(day(31))?.appAccountToken == new)
        // A refund of the old period moves nothing.
        facts.merge(period("1", 0...30, revoked: day(40), token: old, signed: day(40)))
        #expect(facts.value(day(41))?.appAccountToken == new)
        // A period without a token is the same customer's still.
        facts.merge(period("3", 60...90, renewal: true))
        #expect(facts.value(day(61))?.appAccountToken == new)
        var unnamed = PurchaseFacts(transactions: [period("1", 0...30)])
        unnamed.merge(renewal(signed: day(2), renews: day(30), token: new))
        #expect(unnamed.value(day(1))?.appAccountToken == nil)
        #expect(unnamed.value(day(3))?.appAccountToken == new)
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
                transactionID: "1", purchasedAt: .distantPast, expiresAt: .distantFuture, reason: .renewal,
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

    @Test("is another purchase's business where app, environment or identifier differ")
    func keys() {
        let key = PurchaseKey(environment: "Sandbox", bundleID: "a", originalTransactionID: "1")
        var others = [key, key, key]
        others[0].environment = "Production"
        others[1].bundleID = "b"
        others[2].originalTransactionID = "2"
        #expect(Set(others + [key]).count == 4)
        #expect((others + [key]).sorted() == (others.reversed() + [key]).sorted())
    }
}
