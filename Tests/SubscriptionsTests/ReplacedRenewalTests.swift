import AppStorePayloads
import Base
import Subscriptions
import TestSupport
import Testing

// A month of basic. The next one was charged ten hours before its end; premium is bought six and a half hours later.
private let end = day(30)
private let charged = day(29, hours: 14)
private let bought = day(29, hours: 20).adding(seconds: 1800)
private let month = period("1", 0...30, item: "1")
private let renewed = period("2", 30...60, item: "2", renewal: true, signed: charged)

/// What is bought instead; signed a second later by default.
private func plan(
    _ days: Int64 = 30, from start: Timestamp = bought, id: UInt8 = 3, product: String = "premium",
    reason: TransactionFact.Reason = .purchase, signed: Timestamp? = nil, revoked: Timestamp? = nil
) -> TransactionFact {
    TransactionFact(
        transactionID: "\(id)", webOrderLineItemID: "\(id)", productID: product, subscriptionGroupID: "group",
        ownership: "PURCHASED", purchasedAt: start, expiresAt: start.adding(days: days), revokedAt: revoked,
        reason: reason, signedAt: signed ?? start.adding(seconds: 1), digest: digest(id))
}

/// The renewal, as Apple signs it again.
private func again(_ signed: Timestamp, isUpgraded: Bool = true, revoked: Timestamp? = nil) -> TransactionFact {
    period(
        "2", 30...60, item: "2", renewal: true, revoked: revoked, upgraded: isUpgraded, signed: signed, digest: 9)
}

/// What Apple says when something is bought.
private func naming(_ fact: TransactionFact, signed: Timestamp? = nil, status: Int = 1) -> RenewalFact {
    renewal(
        signed: signed ?? fact.signedAt, renews: fact.expiresAt, product: fact.productID, reported: status,
        digest: fact.digest[0])
}

/// All that Apple posts.
private func posted(_ plan: TransactionFact, losing lost: Int? = nil) -> PurchaseFacts {
    var facts = PurchaseFacts()
    for (place, fact) in [month, renewed, plan].enumerated() where place != lost {
        facts.merge(fact)
        facts.merge(naming(fact))
        facts.merge(ReportedStatus(status: 1, signedAt: fact.signedAt))
    }
    return facts
}

extension PurchaseFacts {
    /// The product that gives access at an instant; nil where none does.
    fileprivate func product(_ instant: Timestamp) -> String? {
        value(instant).flatMap { $0.status.access ? $0.productID : nil }
    }
}

@Suite("A renewal that was charged ahead and replaced before it began")
struct ReplacedRenewalTests {
    @Test(
        "never begins and ends nothing, however long the plan is that was bought", arguments: [7, 30, 365] as [Int64])
    func neverBegins(days: Int64) {
        let premium = plan(days)
        let facts = posted(premium)
        // Until then it counts as it did.
        #expect(facts.value(bought.adding(milliseconds: -1))?.expiresAt == day(60))
        #expect(facts.product(bought.adding(milliseconds: -1)) == "basic")
        let last = bought.adding(days: days)
        for instant in [bought, end.adding(milliseconds: -1), end, last.adding(milliseconds: -1)] {
            #expect(facts.product(instant) == "premium")
            #expect(facts.value(instant)?.expiresAt == last)
            #expect(facts.value(instant)?.transactionID == "3")
        }
        #expect(facts.status(last) == .expired)
        #expect(facts.value(last)?.productID == "premium")
        #expect(facts.anomalies.isEmpty)
    }

    @Test("was going to end what runs until it was replaced")
    func wasToEnd() {
        var facts = posted(plan(365))
        facts.merge(period("1", 0...34, item: "1", signed: day(20), digest: 1))
        #expect(facts.value(charged.adding(milliseconds: -1))?.periodEndsAt == day(34))
        for instant in [charged, bought.adding(milliseconds: -1)] {
            #expect(facts.value(instant)?.transactionID == "1")
            #expect(facts.value(instant)?.periodEndsAt == end && facts.value(instant)?.expiresAt == day(60))
        }
        #expect(facts.value(bought)?.periodEndsAt == bought.adding(days: 365))
        // Refunded since, it was not to end anything, nor was what is refunded within the last day.
        facts.merge(again(day(31), revoked: day(31)))
        #expect(facts.value(charged)?.periodEndsAt == end)
        facts.merge(period("1", 0...31, item: "1", signed: day(32), digest: 2))
        #expect(facts.value(charged)?.periodEndsAt == day(31))
    }

    @Test("is no seam for the clock: nothing changes where it would have begun")
    func clock() {
        let phases = SubscriptionState(posted(plan(365)))?.phases ?? []
        #expect(!phases.contains { $0.startsAt >= end && $0.startsAt < bought.adding(days: 365) })
    }

    @Test("stays away when the plan is refunded, before it would have begun or after")
    func refunded() {
        for refund in [day(29, hours: 23), day(40)] {
            var facts = posted(plan(365))
            facts.merge(plan(365, signed: refund, revoked: refund))
            facts.merge(ReportedStatus(status: 5, signedAt: refund))
            for instant in [refund, end.adding(days: 11), day(61), day(500)] where instant >= refund {
                #expect(facts.status(instant) == .revoked, "\(instant)")
                #expect(facts.value(instant)?.productID == "premium")
            }
            #expect(facts.product(refund.adding(milliseconds: -1)) == "premium")
            #expect(facts.anomalies.isEmpty)
        }
    }

    @Test("its own refund, reported later, takes nothing")
    func ownRefund() {
        var facts = posted(plan(365))
        facts.merge(again(day(32), revoked: day(32)))
        facts.merge(naming(plan(365), signed: day(32)))
        facts.merge(ReportedStatus(status: 1, signedAt: day(32)))
        #expect(facts.product(day(31)) == "premium" && facts.product(day(33)) == "premium")
        #expect(facts.anomalies.isEmpty)
        // As is all of it where the charge itself was never heard of.
        var late = posted(plan(365), losing: 1)
        late.merge(again(day(32), revoked: day(32)))
        late.merge(naming(plan(365), signed: day(32)))
        #expect(late.product(day(31)) == "premium" && late.product(day(33)) == "premium")
    }

    @Test("is replaced by the first of two plans that were bought after it was charged")
    func twice() {
        let second = plan(365, from: day(29, hours: 22), id: 4, product: "family")
        var facts = posted(plan(7))
        facts.merge(second)
        facts.merge(naming(second))
        for instant in [end, day(33), day(50), day(100)] { #expect(facts.product(instant) == "family") }
        #expect(facts.product(day(29, hours: 21)) == "premium")
        #expect(facts.anomalies.isEmpty)
        // Whichever of the two was never heard of.
        var one = posted(second)
        #expect(one.product(end) == "family" && one.product(day(100)) == "family")
        one = posted(plan(7))
        #expect(one.product(end) == "premium")
    }

    @Test("does not come back with the renewal of the plan, charged ahead or not", arguments: [-36_000, 2] as [Int64])
    func renewedPlan(seconds: Int64) {
        let premium = plan(7)
        let next = plan(
            7, from: bought.adding(days: 7), id: 5, reason: .renewal,
            signed: bought.adding(days: 7).adding(seconds: seconds))
        var facts = posted(premium)
        facts.merge(next)
        facts.merge(naming(next))
        #expect(facts.product(day(34)) == "premium" && facts.product(day(43)) == "premium")
        #expect(facts.status(day(45)) == .expired)
        #expect(facts.anomalies.isEmpty)
        // As a device has all of it afterwards, Apple's word of the upgrade included.
        let late = day(40)
        var loaded = PurchaseFacts()
        for fact in [month, again(late), premium, next] {
            var fact = fact
            fact.signedAt = late
            fact.asOf = late
            loaded.merge(fact)
        }
        for instant in [end, day(34), day(43)] { #expect(loaded.product(instant) == "premium", "\(instant)") }
        // The month before it may be missing there: nothing but renewals of the plan begins in the one replaced.
        loaded = PurchaseFacts(transactions: loaded.transactions.filter { $0.transactionID != "1" })
        for instant in [end, day(34), day(43)] { #expect(loaded.product(instant) == "premium", "\(instant)") }
    }

    @Test(
        "is known by Apple's word alone where an old receipt tells of all of it, each bought or renewed as that may be")
    func receipt() {
        for reason in TransactionFact.Reason.allCases {
            var facts = PurchaseFacts()
            for fact in [month, again(day(31)), plan(365, reason: reason)] {
                var fact = fact
                fact.isUnsigned = true
                fact.signedAt = day(31)
                fact.asOf = day(31)
                facts.merge(fact)
            }
            #expect(facts.product(end) == "premium" && facts.product(day(100)) == "premium")
            #expect(facts.product(day(29)) == "basic")
        }
    }

    @Test("counts for nothing where it was first heard of after the plan, and before it would have begun")
    func firstHeardLater() {
        var facts = posted(plan(365), losing: 1)
        facts.merge(again(day(29, hours: 23)))
        for instant in [day(29, hours: 22), end, day(61), day(100)] { #expect(facts.product(instant) == "premium") }
    }

    @Test("where no word of Apple's says that it was replaced, the next renewal info does, and Apple is asked")
    func withoutWord() {
        var facts = posted(plan(365), losing: 1)
        facts.merge(again(day(29, hours: 23), isUpgraded: false))
        #expect(facts.product(day(31)) == "basic")
        #expect(facts.anomalies.isEmpty)
        facts.merge(naming(plan(365), signed: day(32)))
        #expect(facts.product(day(31)) == "basic")
        #expect(facts.product(day(33)) == "premium" && facts.product(day(100)) == "premium")
        #expect(facts.value(day(33))?.expiresAt == bought.adding(days: 365))
        #expect(facts.value(day(33))?.basis == .records)
        #expect(facts.anomalies.map(\.kind) == [.upgradeMissing])
        #expect(facts.anomalies.first?.transactionID == "2")
        // Asked, Apple answers with the word that was missing.
        facts.merge(again(day(34)))
        #expect(facts.product(day(31)) == "premium")
        #expect(facts.anomalies.isEmpty)
    }

    @Test("is told from a plan between that really ran, which Apple calls upgraded too")
    func middle() {
        // Silver for a month, renewed as basic for a while, upgraded in its time.
        let silver = plan(7, from: day(29, hours: 12), product: "silver")
        let basic = period("2", 30...60, renewal: true, upgraded: true, signed: day(36, hours: 12))
        let premium = plan(30, from: day(35), id: 4)
        let facts = PurchaseFacts(transactions: [silver, basic, premium])
        // Nothing follows upon anything here, and what began within it explains the word.
        #expect(facts.product(day(31)) == "basic")
        #expect(facts.product(day(36)) == "premium")
        var year = period("1", 0...365, product: "silver", upgraded: true)
        year.reason = .renewal
        let ran = PurchaseFacts(transactions: [
            period("0", -365...0, product: "basic"), year, plan(30, from: day(10), id: 4),
        ])
        #expect(ran.product(day(5)) == "silver" && ran.product(day(15)) == "premium")
    }

    @Test("is none where what was bought is the same product, was charged ahead itself, or is over by then")
    func counterexamples() {
        #expect(posted(plan(365, product: "basic")).value(day(40))?.transactionID == "2")
        // Charged ahead itself: a renewal, of another product.
        let ahead = plan(365, from: bought, reason: .renewal, signed: bought.adding(seconds: -36_000))
        #expect(PurchaseFacts(transactions: [month, renewed, ahead]).product(day(40)) == "basic")
        var short = plan()
        short.expiresAt = end
        #expect(PurchaseFacts(transactions: [month, renewed, short]).product(day(40)) == "basic")
        let early = plan(from: end.adding(days: -1).adding(milliseconds: -1))
        let charged = period("2", 30...60, item: "2", renewal: true, signed: early.signedAt.adding(seconds: -60))
        #expect(PurchaseFacts(transactions: [month, charged, early]).product(day(40)) == "basic")
    }

    @Test("leaves no account to what follows it")
    func account() {
        let (mine, other) = (UniqueIdentifier(high: 7, low: 1), UniqueIdentifier(high: 7, low: 2))
        var (first, next) = (month, renewed)
        first.appAccountToken = mine
        next.appAccountToken = other
        let facts = PurchaseFacts(transactions: [
            first, next, plan(7), plan(30, from: bought.adding(days: 7), id: 5, reason: .renewal),
        ])
        #expect(facts.value(day(29))?.appAccountToken == mine)
        #expect(facts.value(day(31))?.appAccountToken == mine)
        #expect(facts.value(day(40))?.appAccountToken == mine)
        #expect(PurchaseState(facts).carried(to: day(31)).account == mine)
    }

    @Test("is no renewal that is awaited: the leeway begins where the plan ends")
    func leeway() {
        let policy = StatusPolicy(renewalLeewaySeconds: 600)
        let state = SubscriptionState(posted(plan(7)), policy: policy)
        let last = bought.adding(days: 7)
        #expect(state?.status(at: end.adding(seconds: 1))?.productID == "premium")
        #expect(state?.status(at: last.adding(seconds: 599))?.status.access == true)
        #expect(state?.status(at: last.adding(seconds: 600))?.status.access == false)
    }

    @Test("is cut off with what decides about it, or not at all")
    func cut() {
        var facts = posted(plan(365))
        facts.merge(naming(plan(365), signed: day(32)))
        facts.merge(ReportedStatus(status: 1, signedAt: day(32)))
        for cut in [bought, end] {
            #expect(!PurchaseState.mayBeCut(facts, at: cut.adding(milliseconds: 1), from: day(33)), "\(cut)")
        }
        #expect(PurchaseState.mayBeCut(facts, at: bought, from: day(33)))
        // By Apple's word alone it depends on all that there is.
        var loaded = posted(plan(365), losing: 1)
        loaded.merge(again(day(31)))
        loaded.merge(naming(plan(365), signed: day(32)))
        loaded.merge(ReportedStatus(status: 1, signedAt: day(32)))
        #expect(!PurchaseState.mayBeCut(loaded, at: bought, from: day(33)))
    }

    @Test("is no paid period any more")
    func paid() {
        let periods = PaidPeriod.all(of: posted(plan(365)))
        #expect(periods.map(\.transactionID) == ["1", "3", "2"])
        #expect(periods.map(\.replacedAt) == [nil, nil, bought])
    }

    @Test("is the same where renewal info that names the plan is only repeated after the charge, without a status")
    func repeated() {
        let premium = plan(365)
        var facts = PurchaseFacts(transactions: [month, renewed])
        facts.merge(naming(premium, signed: day(20)))
        #expect(PaidPeriod.all(of: facts).map(\.replacedAt) == [nil, nil])
        var repeated = naming(premium, signed: bought)
        repeated.reportedStatus = nil
        facts.merge(repeated)
        #expect(PaidPeriod.all(of: facts).map(\.replacedAt) == [nil, bought])
        #expect(PurchaseState(facts).paidPeriods == PaidPeriod.all(of: facts))
    }

    @Test("is told in the story as what it was, and the plan as the upgrade that it is")
    func story() {
        let key = PurchaseKey(environment: "Production", bundleID: "app", originalTransactionID: "1")
        func told(_ type: NotificationType, _ subtype: NotificationSubtype?, _ fact: TransactionFact, _ id: UInt64)
            -> PurchaseEvidence
        {
            PurchaseEvidence(
                notificationUUID: UniqueIdentifier(high: 0, low: id), type: type, subtype: subtype,
                signedAt: fact.signedAt, reportedStatus: ReportedStatus(status: 1, signedAt: fact.signedAt),
                transaction: fact, renewal: naming(fact), price: Money(milliunits: 4990, currency: "USD"))
        }
        let pieces = [
            told(.subscribed, .initialBuy, month, 1), told(.didRenew, nil, renewed, 2),
            told(.didChangeRenewalPref, .upgrade, plan(365), 3),
        ]
        let story = PurchaseStory(pieces, of: key)
        #expect(
            story.entries.map { $0.changes.map(\.kind) } == [[.bought], [.renewed], [.upgraded, .renewalReplaced]])
        #expect(story.entries.last?.changes.last?.from == end)
        #expect(story.entries.last?.words.hasPrefix("upgraded to premium until") == true)
        // First heard of afterwards, it never was a renewal.
        let late = PurchaseEvidence(signedAt: day(32), transaction: again(day(32)))
        let other = PurchaseStory([pieces[0], pieces[2], late], of: key)
        #expect(other.entries.map { $0.changes.map(\.kind) } == [[.bought], [.upgraded], [.renewalReplaced]])
        #expect(other.entries.last?.words == "renewal of 15 July to 14 August replaced before it began")
    }
}
