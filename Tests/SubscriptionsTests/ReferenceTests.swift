import AppStorePayloads
import Base
import Subscriptions
import TestSupport
import Testing

@Suite("Against the rules as they are told")
struct ReferenceTests {
    /// By default one round in so many.
    private static let share = 40
    private static let rounds = samples(of: 3_000, oneIn: share)
    /// How long a renewal is waited for, in seconds. By default it is one of these, chosen by chance.
    private static let leeways = sampled([0, 600, 3 * 86_400] as [Int64])

    @Test(
        "the status of random facts is the same wherever it may change, with reports and without, waiting for a renewal or not",
        arguments: leeways, [false, true])
    func random(leeway: Int64, withReports: Bool) {
        let seed = TestSupport.SeededGenerator().seed
        var random = RandomFacts(TestSupport.SeededGenerator(seed: seed))
        var (compared, held) = (0, 0)
        var (replaced, unheard, parts) = (0, 0, 0)
        for round in 0..<Self.rounds / 6 {
            var draw = random.draw(withReports: withReports)
            // What counts of unsigned records is another suite's question.
            draw.transactions = draw.transactions.map { $0.signed }
            draw.renewals = draw.renewals.map { $0.signed }
            let facts = draw.facts
            let reference = ReferenceStatus(facts, leeway: leeway)
            replaced += reference.periods.count { reference.void($0) != nil }
            unheard += reference.unheard.count
            parts += reference.periods.count(where: \.saysWhy)
            let state = SubscriptionState(facts, policy: StatusPolicy(renewalLeewaySeconds: leeway))
            for instant in facts.interestingInstants(leeway: leeway) {
                // Whose a period is is no question of its status.
                var value = state?.status(at: instant)
                value?.appAccountToken = nil
                switch reference.answer(at: instant) {
                case .records(var told):
                    told?.appAccountToken = nil
                    // What only a report made a subscription is over when it holds no more.
                    if told == nil, let value, !value.status.access { continue }
                    guard value != told else { continue }
                case .reported(let number):
                    held += 1
                    guard value?.status.appleStatus != number || value?.basis != .reportedStatus else { continue }
                }
                Issue.record(
                    "set \(round) of seed \(seed) at \(instant): \(String(describing: value)), not \(reference.answer(at: instant))"
                )
                return
            }
            compared += state == nil ? 0 : 1
        }
        #expect(isEnough(compared, of: Self.rounds / 8), "seed \(seed)")
        #expect(!withReports || held > 0, "seed \(seed)")
        #expect(isEnough(replaced + unheard + parts, of: 50, oneIn: Self.share), "seed \(seed)")
    }
}

extension TransactionFact {
    fileprivate var signed: TransactionFact {
        var signed = self
        signed.isUnsigned = false
        return signed
    }
}

extension RenewalFact {
    fileprivate var signed: RenewalFact {
        var signed = self
        signed.isUnsigned = false
        return signed
    }
}
