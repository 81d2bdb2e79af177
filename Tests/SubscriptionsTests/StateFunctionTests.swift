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
