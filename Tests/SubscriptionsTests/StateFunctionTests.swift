import AppStorePayloads
import Subscriptions
import TestSupport
import Testing

@Suite("The state of random facts")
struct StateFunctionTests {
    private static let rounds = 20_000

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
            #expect(phases.first?.startsAt == .distantPast)
            var isRight = true
            for (phase, next) in zip(phases, phases.dropFirst()) {
                isRight = isRight && phase.startsAt < next.startsAt && phase.value != next.value
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
        #expect(derived > Self.rounds / 5)
    }

    @Test("is what the rules say, written down a second time", arguments: [3, 16, 28] as [Int64])
    func reference(graceDays: Int64) {
        let seed = TestSupport.SeededGenerator().seed
        var random = RandomFacts(TestSupport.SeededGenerator(seed: seed))
        for round in 0..<Self.rounds / 3 {
            let facts = random.draw().facts
            let state = SubscriptionState(facts, policy: StatusPolicy(graceDays: graceDays))
            guard let beginning = ReferenceStatus.beginning(facts) else {
                #expect(state == nil)
                continue
            }
            let instants = facts.interestingInstants.filter { $0 >= beginning }
            // A few of them: each costs the reference a walk over everything.
            for instant in instants.shuffled(using: &random.generator).prefix(5) + [beginning] {
                let expected = ReferenceStatus.status(facts, at: instant, graceDays: graceDays)
                let actual = state?.status(at: instant).status
                guard actual == expected else {
                    Issue.record(
                        "set \(round) of seed \(seed) at \(instant): \(String(describing: actual)), by the rules \(String(describing: expected))"
                    )
                    return
                }
            }
        }
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
