import AppStorePayloads
import Base
import Subscriptions
import TestSupport
import Testing

@Suite("What Apple only said")
struct UnsignedTests {
    private func said(_ fact: TransactionFact) -> TransactionFact {
        var fact = fact
        fact.isUnsigned = true
        return fact
    }

    private func said(_ fact: RenewalFact) -> RenewalFact {
        var fact = fact
        fact.isUnsigned = true
        return fact
    }

    private static let rounds = samples(of: 2000)

    @Test("makes a subscription as what it signed does, where that is all there is")
    func alone() {
        let first = said(period("1", 0...30, signed: day(10), digest: 1))
        var facts = PurchaseFacts(transactions: [first])
        #expect(facts.status(day(5)) == .active && facts.status(day(31)) == .expired)
        #expect(facts.asOf == day(10))
        facts.merge(said(period("2", 30...60, renewal: true, signed: day(40), digest: 2)))
        facts.merge(said(renewal(signed: day(40), renews: day(60), on: false, digest: 3)))
        #expect(facts.status(day(35)) == .active && facts.status(day(41)) == .cancelled)
        #expect(facts.status(day(61)) == .expired && facts.anomalies == [])
        // A later answer without the refund that an earlier one had takes it back.
        facts.merge(said(period("2", 30...60, renewal: true, revoked: day(45), signed: day(46), digest: 4)))
        #expect(facts.status(day(47)) == .revoked)
        facts.merge(said(period("2", 30...60, renewal: true, signed: day(50), digest: 5)))
        #expect(facts.status(day(47)) == .revoked && facts.status(day(51)) == .cancelled)
        #expect(!PurchaseState.isRegular(facts))
    }

    @Test("of a transaction counts for nothing beside what it signed of the same, whatever their dates")
    func yields() {
        for date in [1, 12, 25] as [Int64] {
            let refunded = said(period("1", 0...30, revoked: day(date), signed: day(date), digest: 2))
            var facts = PurchaseFacts(transactions: [refunded])
            #expect(facts.status(day(26)) == .revoked)
            facts.merge(period("1", 0...30, signed: day(11), digest: 1))
            #expect(facts.status(day(26)) == .active && facts.anomalies == [])
            // Not even as what was true before the signed word came.
            #expect(facts == PurchaseFacts(transactions: [period("1", 0...30, signed: day(11), digest: 1), refunded]))
            for hour in stride(from: 0, to: 24 * 31, by: 8) {
                let instant = day(0, hours: Int64(hour))
                #expect(
                    facts.value(instant)
                        == PurchaseFacts(transactions: [period("1", 0...30, signed: day(11), digest: 1)]).value(instant)
                )
            }
            // Another transaction of the purchase is another thing.
            facts.merge(said(period("2", 30...60, renewal: true, signed: day(31), digest: 3)))
            #expect(facts.status(day(40)) == .active)
        }
    }

    @Test("of a copy of a paid period counts for nothing beside the signed record of another copy")
    func copies() {
        let facts = PurchaseFacts(transactions: [
            period("1", 0...30, item: "w", digest: 1),
            said(period("9", 0...30, item: "w", revoked: day(5), signed: day(20), digest: 2)),
        ])
        #expect(facts.status(day(10)) == .active)
    }

    @Test("of what is to come counts for nothing beside signed renewal info, whatever their dates")
    func renewals() {
        var facts = PurchaseFacts(transactions: [period("1", 0...30)])
        facts.merge(said(renewal(signed: day(20), renews: day(30), on: false, digest: 1)))
        #expect(facts.status(day(21)) == .cancelled)
        facts.merge(renewal(signed: day(1), renews: day(30), digest: 2))
        #expect(facts.status(day(21)) == .active)
    }

    @Test("of what is to come counts where it speaks of a later period, whose signed word was lost")
    func laterPeriod() {
        var facts = PurchaseFacts(transactions: [
            period("1", 0...30), said(period("2", 30...60, renewal: true, signed: day(40), digest: 2)),
        ])
        facts.merge(renewal(signed: day(1), renews: day(30), digest: 3))
        #expect(facts.status(day(41)) == .active)
        facts.merge(said(renewal(signed: day(40), renews: day(60), on: false, digest: 4)))
        #expect(facts.status(day(39)) == .active && facts.status(day(41)) == .cancelled)
        // A later answer of the same period replaces it: the charge failed, and Apple goes on trying.
        var failed = said(renewal(signed: day(61), renews: day(60), digest: 5))
        failed.inBillingRetry = true
        failed.graceExpiresAt = day(76)
        facts.merge(failed)
        #expect(facts.status(day(62)) == .gracePeriod && facts.status(day(77)) == .billingRetry)
        // Apple's signed word of that period takes its place, whatever the dates; of an earlier one it does not.
        facts.merge(renewal(signed: day(50), renews: day(30), digest: 6))
        #expect(facts.status(day(62)) == .gracePeriod)
        facts.merge(renewal(signed: day(35), renews: day(60), digest: 7))
        #expect(facts.status(day(41)) == .active && facts.status(day(62)) == .expired)
    }

    @Test("of something bought once does not tell which kind it is, and what it signed does")
    func once() {
        func bought(_ id: String, _ kind: ProductType?, revoked: Timestamp? = nil, digest number: UInt8)
            -> TransactionFact
        {
            TransactionFact(
                transactionID: id, productID: "lifetime", kind: kind, purchasedAt: day(0), revokedAt: revoked,
                signedAt: day(Int64(number)), digest: digest(number))
        }
        var facts = PurchaseFacts(transactions: [said(bought("1", nil, digest: 1))])
        let state = PurchaseState(facts)
        #expect(state.oneTime?.kind == .nonRenewing && state.oneTime?.expiresAt == nil && state.subscription == nil)
        #expect(state.anomalies == [])
        facts.merge(said(bought("1", nil, revoked: day(2), digest: 9)))
        #expect(PurchaseState(facts).oneTime?.revokedAt == day(2))
        // A restored copy has a transaction of its own, and is the same purchase.
        facts.merge(bought("2", .nonConsumable, digest: 3))
        #expect(PurchaseState(facts).oneTime?.kind == .nonConsumable)
        #expect(PurchaseState(facts).oneTime?.revokedAt == nil)
        // What a subscription has, and nothing else, is no thing bought once.
        var period = bought("3", nil, digest: 4)
        period.webOrderLineItemID = "w"
        #expect(PurchaseState(PurchaseFacts(transactions: [said(period)])).oneTime == nil)
    }

    @Test("is superseded by what is signed, of whatever date, and by what was said later")
    func order() {
        let early = said(period("1", 0...30, signed: day(1), digest: 1))
        let late = said(period("1", 0...30, signed: day(9), digest: 2))
        let signed = period("1", 0...30, signed: day(5), digest: 3)
        #expect(late.supersedes(early) && !early.supersedes(late))
        #expect(signed.supersedes(late) && !late.supersedes(signed) && signed.supersedes(early))
    }

    @Test("changes no state where all that it speaks of is signed, in any random life")
    func random() {
        let seed = TestSupport.SeededGenerator().seed
        var random = RandomFacts(TestSupport.SeededGenerator(seed: seed))
        var dropped = 0
        for round in 0..<Self.rounds {
            let draw = random.draw()
            let signed = draw.transactions.filter { !$0.isUnsigned }
            let hasOnce = signed.contains { $0.kind == .consumable }
            var kept = draw
            kept.transactions.removeAll { fact in
                guard fact.isUnsigned else { return false }
                let isSame = signed.contains {
                    $0.transactionID == fact.transactionID
                        || $0.webOrderLineItemID != nil && $0.webOrderLineItemID == fact.webOrderLineItemID
                }
                let isOnce =
                    fact.kind == .consumable
                    || fact.kind == nil && fact.webOrderLineItemID == nil && fact.subscriptionGroupID == nil
                return isSame || isOnce && hasOnce
            }
            if let reach = draw.renewals.filter({ !$0.isUnsigned }).map({ $0.renewsAt ?? .distantFuture }).max() {
                kept.renewals.removeAll { $0.isUnsigned && ($0.renewsAt ?? .distantPast) <= reach }
            }
            dropped += draw.transactions.count - kept.transactions.count
            let (all, counting) = (PurchaseState(draw.facts), PurchaseState(kept.facts))
            guard all.subscription == counting.subscription, all.oneTime == counting.oneTime,
                all.anomalies == counting.anomalies
            else {
                Issue.record("set \(round) of seed \(seed)")
                return
            }
        }
        #expect(isEnough(dropped, of: Self.rounds / 10), "seed \(seed)")
    }

    @Test("is told in a story, and nothing of it where Apple signed the same")
    func story() {
        let key = PurchaseKey(environment: "Production", bundleID: "app", originalTransactionID: "1")
        let first = said(period("1", 0...30, signed: day(3), digest: 1))
        let refund = said(period("1", 0...30, revoked: day(8), signed: day(9), digest: 2))
        func piece(_ fact: TransactionFact) -> PurchaseEvidence {
            PurchaseEvidence(signedAt: fact.signedAt, transaction: fact)
        }
        let alone = PurchaseStory([piece(first), piece(refund)], of: key)
        #expect(alone.entries.map { $0.changes.map(\.kind) } == [[.periodTold], [.refunded]])
        let signed = period("1", 0...30, signed: day(5), digest: 3)
        let both = PurchaseStory([piece(first), piece(refund), piece(signed)], of: key)
        #expect(both.entries.map { $0.changes.map(\.kind) } == [[.nothingNew], [.periodTold], [.nothingNew]])
        #expect(both.entries.last?.after?.status == .active)
    }
}
