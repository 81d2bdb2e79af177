import AppStorePayloads
import Base
import Subscriptions
import TestSupport
import Testing

@Suite("The end of a long purchase")
struct CutTests {
    private static func purchases(_ leeway: Int64) -> Int { samples(of: leeway == 0 ? 60 : 20) }
    /// In seconds. Three days reach well into the next period.
    private static let leeways: [Int64] = [0, 3 * 86_400]

    @Test(
        "is derived alike without the periods before it, wherever it may be cut",
        arguments: LongPurchase.Kind.allCases, leeways)
    func cut(_ kind: LongPurchase.Kind, leeway: Int64) {
        let policy = StatusPolicy(renewalLeewaySeconds: leeway)
        let seed = SeededGenerator().seed
        var generator = SeededGenerator(seed: seed)
        var (asked, allowed) = (0, 0)
        // Some purchases cannot be cut anywhere, and a small sample may have no other.
        for round in 0..<60 where round < Self.purchases(leeway) || allowed == 0 {
            let purchase = LongPurchase(kind, periods: .random(in: 30...200, using: &generator), using: generator)
            generator = purchase.generator
            let facts = LongPurchase.facts(purchase.statements)
            let full = PurchaseState(facts, policy: policy)
            for (cut, horizon) in Self.places(facts, full, using: &generator) {
                asked += 1
                guard
                    let end = PurchaseState(
                        facts, policy: policy, cutAt: cut, from: horizon, carry: full.carried(to: horizon))
                else { continue }
                allowed += 1
                guard Self.isSame(end, as: full, of: facts, from: horizon, policy) else {
                    Issue.record("\(kind), purchase \(round) of seed \(seed), cut at \(cut), from \(horizon)")
                    return
                }
            }
        }
        #expect(isEnough(allowed, of: asked / 6), "\(allowed) of \(asked) places, seed \(seed)")
    }

    @Test(
        "is all that must be read for what comes next, which leaves alone what was before it",
        arguments: LongPurchase.Kind.allCases, leeways)
    func next(_ kind: LongPurchase.Kind, leeway: Int64) {
        let policy = StatusPolicy(renewalLeewaySeconds: leeway)
        let seed = SeededGenerator().seed
        var generator = SeededGenerator(seed: seed)
        var (asked, allowed) = (0, 0)
        // Some purchases cannot be cut anywhere, and a small sample may have no other.
        for round in 0..<60 where round < Self.purchases(leeway) || allowed == 0 {
            let purchase = LongPurchase(kind, periods: .random(in: 30...120, using: &generator), using: generator)
            generator = purchase.generator
            for _ in 0..<20 {
                var known = Array(
                    purchase.statements[..<Int.random(in: 20..<purchase.statements.count, using: &generator)])
                let next = known.remove(
                    at: Int.random(in: 0..<8, using: &generator) > 0
                        ? known.count - 1 : Int.random(in: 0..<known.count, using: &generator))
                asked += 1
                guard let end = EndOfPurchase(known, next, policy) else { continue }
                allowed += 1
                if let difference = end.difference {
                    Issue.record("\(kind), purchase \(round) of seed \(seed), after \(known.count): \(difference)")
                    return
                }
            }
        }
        #expect(isEnough(allowed, of: asked / 6), "\(allowed) of \(asked) places, seed \(seed)")
    }

    @Test(
        "needs what Apple said before it only where a reported status decides that the records do not explain",
        arguments: [(1, true), (2, false)])
    func news(status: Int, maybeCut: Bool) {
        var facts = PurchaseFacts()
        func report(_ renewal: RenewalFact) {
            facts.merge(renewal)
            facts.merge(ReportedStatus(status: renewal.reportedStatus ?? 0, signedAt: renewal.signedAt))
        }
        for month in Int64(0)..<8 {
            let (start, end) = (day(30 * month), day(30 * month + 30))
            facts.merge(
                TransactionFact(
                    transactionID: "\(month)", productID: "a", purchasedAt: start, expiresAt: end,
                    reason: month == 0 ? .purchase : .renewal, signedAt: start, digest: [1, UInt8(month)]))
            report(
                RenewalFact(
                    productID: "a", autoRenew: true, renewsAt: end, signedAt: start, reportedStatus: 1,
                    digest: [2, UInt8(month)]))
        }
        // It names no date: the same may have been said before what is kept.
        report(
            RenewalFact(productID: "a", autoRenew: false, signedAt: day(215), reportedStatus: status, digest: [3]))
        let horizon = day(151)
        let carry = PurchaseState(facts).carried(to: horizon)
        let end = PurchaseState(facts, cutAt: day(90), from: horizon, carry: carry)
        #expect((end != nil) == maybeCut)
    }

    /// Where the end of a purchase might be told from the beginning: a few periods before some phase.
    private static func places(
        _ facts: PurchaseFacts, _ full: PurchaseState, using generator: inout SeededGenerator
    ) -> [(cut: Timestamp, horizon: Timestamp)] {
        let phases = full.subscription?.phases ?? []
        let starts = Set(facts.transactions.compactMap(\.purchasedAt)).sorted()
        return (0..<40).compactMap { _ in
            guard let phase = phases.randomElement(using: &generator) else { return nil }
            var horizon = phase.startsAt
            if Int.random(in: 0..<4, using: &generator) == 0 {
                horizon = horizon.adding(seconds: .random(in: -86_400...86_400, using: &generator))
            }
            let before = starts.filter { $0 <= horizon }
            let back = Int.random(in: 0...4, using: &generator)
            guard before.count > back, full.subscription?.status(at: horizon) != nil else { return nil }
            return (before[before.count - 1 - back], horizon)
        }
    }

    /// Whether a part of the facts gives the same phases and anomalies from the horizon on as all of them.
    private static func isSame(
        _ state: PurchaseState, as full: PurchaseState, of facts: PurchaseFacts, from horizon: Timestamp,
        _ policy: StatusPolicy
    ) -> Bool {
        guard let subscription = full.subscription,
            let first = subscription.phases.last(where: { $0.startsAt <= horizon })
        else { return false }
        let expected =
            [Phase(startsAt: horizon, value: first.value, origin: first.origin)]
            + subscription.phases.filter { $0.startsAt > horizon }
        return state.subscription?.phases == expected
            && state.subscription?.stretchEnds == subscription.stretchEnds
            && state.anomalies == PurchaseState(facts, policy: policy, from: horizon).anomalies
    }
}

/// A purchase whose end alone is read when something new is heard: three periods before its last phases, and four statements.
struct EndOfPurchase {
    let before: PurchaseState
    let after: PurchaseState
    let horizon: Timestamp
    let derived: PurchaseState
    /// Those from the horizon on, with all facts.
    let anomaliesBefore: [Anomaly]
    let anomaliesAfter: [Anomaly]

    /// Nil where all must be read.
    init?(_ known: [LongPurchase.Statement], _ next: LongPurchase.Statement, _ policy: StatusPolicy) {
        let facts = LongPurchase.facts(known)
        before = PurchaseState(facts, policy: policy)
        guard let phases = before.subscription?.phases, phases.count >= 8, PurchaseState.isRegular(facts),
            next.transaction?.isRegular ?? true, next.renewal?.isRegular ?? true
        else { return nil }
        horizon = phases[(phases.count / 4 - 1) * 4].startsAt
        let (horizon, dates) = (horizon, next.dates)
        guard dates.allSatisfy({ $0 >= horizon }), !Self.isRedated(facts, next) else { return nil }
        var bought: [String: Timestamp] = [:]
        for fact in facts.transactions { bought[fact.transactionID] = fact.purchasedAt }
        let starts = bought.values.filter { $0 <= horizon }.sorted()
        let signed = known.map(\.signedAt).filter { $0 <= horizon }.sorted()
        guard starts.count >= 3, signed.count >= 4 else { return nil }
        let cut = starts[starts.count - 3]
        let begins = min(cut.adding(days: -2), signed[signed.count - 4])
        let rest = LongPurchase.facts(known.filter { $0.signedAt >= begins } + [next])
        guard
            let derived = PurchaseState(
                rest, policy: policy, cutAt: cut, from: horizon, carry: before.carried(to: horizon))
        else { return nil }
        self.derived = derived
        let all = LongPurchase.facts(known + [next])
        after = PurchaseState(all, policy: policy)
        anomaliesBefore = PurchaseState(facts, policy: policy, from: horizon).anomalies
        anomaliesAfter = PurchaseState(all, policy: policy, from: horizon).anomalies
    }

    private static func isRedated(_ facts: PurchaseFacts, _ next: LongPurchase.Statement) -> Bool {
        guard let new = next.transaction else { return false }
        return facts.transactions.contains {
            ($0.transactionID == new.transactionID
                || ($0.webOrderLineItemID != nil && $0.webOrderLineItemID == new.webOrderLineItemID))
                && $0.purchasedAt != new.purchasedAt
        }
    }

    /// What is not as it is with all facts; nil where nothing is.
    var difference: String? {
        let (old, new) = (before.subscription?.phases ?? [], after.subscription?.phases ?? [])
        if old.filter({ $0.startsAt < horizon }) != new.filter({ $0.startsAt < horizon }) { return "earlier phases" }
        if derived.subscription?.phases != new.filter({ $0.startsAt >= horizon }) { return "phases" }
        if derived.subscription?.stretchEnds != after.subscription?.stretchEnds { return "stretches" }
        // What was amiss before the horizon still is, and nothing else.
        if derived.anomalies != anomaliesAfter { return "anomalies" }
        if before.anomalies.filter({ !anomaliesBefore.contains($0) })
            != after.anomalies.filter({ !anomaliesAfter.contains($0) })
        {
            return "earlier anomalies"
        }
        return nil
    }
}

extension LongPurchase.Statement {
    /// All instants that it may say anything of.
    fileprivate var dates: [Timestamp] {
        [signedAt, transaction?.since, renewal?.asOf].compactMap(\.self)
    }
}
