import AppStorePayloads
import Subscriptions
import TestSupport
import Testing

@Suite("The state of random facts")
struct StateFunctionTests {
    private static let rounds = samples(of: 20_000)

    @Test("is the same function whichever way it is asked: at an instant, or by its phases")
    func phases() {
        let seed = TestSupport.SeededGenerator().seed
        var random = RandomFacts(TestSupport.SeededGenerator(seed: seed))
        var derived = 0
        for round in 0..<Self.rounds / 4 {
            let facts = random.draw().facts
            guard let state = SubscriptionState(facts) else { continue }
            derived += 1
            let phases = state.phases
            var isRight = true
            for (phase, next) in zip(phases, phases.dropFirst()) {
                isRight = isRight && phase.startsAt < next.startsAt
                isRight = isRight && (phase.value != next.value || phase.origin != next.origin)
            }
            for instant in facts.interestingInstants {
                let phase = phases.last { $0.startsAt <= instant }
                isRight = isRight && phase?.value == state.status(at: instant)
            }
            guard isRight else {
                Issue.record("set \(round) of seed \(seed)")
                return
            }
        }
        #expect(isEnough(derived, of: Self.rounds / 5), "seed \(seed)")
    }

    @Test("is what the rules say when they are written down a second time, and asked one instant at a time")
    func reference() {
        let seed = TestSupport.SeededGenerator().seed
        var random = RandomFacts(TestSupport.SeededGenerator(seed: seed))
        var (compared, replaced, unheard, parts) = (0, 0, 0, 0)
        for round in 0..<Self.rounds / 4 {
            var draw = random.draw(withReports: false)
            // What is unsigned and counts is tested by itself.
            for place in draw.transactions.indices { draw.transactions[place].isUnsigned = false }
            for place in draw.renewals.indices { draw.renewals[place].isUnsigned = false }
            let facts = draw.facts
            guard let state = SubscriptionState(facts) else { continue }
            let rules = ReferenceStatus(facts)
            replaced += rules.periods.count { rules.void($0) != nil }
            unheard += rules.unheard.count
            if rules.periods.contains(where: \.saysWhy) { parts += 1 }
            for instant in facts.interestingInstants.shuffled(using: &random.generator).prefix(12) {
                guard let expected = rules.value(at: instant) else { continue }
                compared += 1
                let actual = state.status(at: instant)
                guard actual?.withoutAccount == expected.withoutAccount else {
                    Issue.record(
                        "set \(round) of seed \(seed) at \(instant): \(String(describing: actual)), by the rules \(expected)"
                    )
                    return
                }
            }
        }
        #expect(isEnough(compared, of: Self.rounds), "seed \(seed)")
        #expect(isEnough(min(replaced, unheard, parts), of: Self.rounds / 100), "seed \(seed)")
    }

    @Test("does not depend on the order in which the facts came, nor on repeats")
    func order() {
        let seed = TestSupport.SeededGenerator().seed
        var random = RandomFacts(TestSupport.SeededGenerator(seed: seed))
        for round in 0..<Self.rounds / 4 {
            let draw = random.draw()
            let facts = draw.facts
            var other = PurchaseFacts()
            for fact in (draw.transactions + draw.transactions).shuffled(using: &random.generator) { other.merge(fact) }
            for fact in (draw.renewals + draw.renewals).shuffled(using: &random.generator) { other.merge(fact) }
            for fact in (draw.reportedStatuses + draw.reportedStatuses).shuffled(using: &random.generator) {
                other.merge(fact)
            }
            guard facts == other, SubscriptionState(facts) == SubscriptionState(other),
                SubscriptionState(facts)?.phases == SubscriptionState(other)?.phases
            else {
                Issue.record("set \(round) of seed \(seed)")
                return
            }
        }
    }
}
