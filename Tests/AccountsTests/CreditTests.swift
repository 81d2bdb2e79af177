import Base
import StoreModel
import Subscriptions
import TestSupport
import Testing

/// Consumables against an independent model of them.
@Suite("Credits against an independent model")
struct CreditTests {
    @Test(
        "what was bought and taken back of random consumables is what the model says, exactly, whole or with one message lost, heard in any order",
        arguments: [false, true])
    func credits(_ isLossy: Bool) throws {
        var generator = SeededGenerator()
        var (several, fractions) = (0, 0)
        for seed in sampledSeeds(of: 2_000) {
            let life = CreditMaker.life(seed: seed, losing: isLossy)
            let messages = life.messages.shuffled(using: &generator)
            for count in Set([messages.count / 2, messages.count]) {
                let heard = Array(messages.prefix(count))
                for (line, thing) in try LifeFacts(life, heard: heard).things.sorted(by: { $0.key < $1.key }) {
                    let model = CreditModel(heard.filter { $0.line == line })
                    several += thing.sales.count > 1 ? 1 : 0
                    fractions += model.takenBack % 100_000 == 0 ? 0 : 1
                    let said = "\(line): \(thing.quantity), \(thing.takenBack)"
                    let expected = "\(line): \(model.bought), \(model.takenBack)"
                    #expect(said == expected, "life \(seed), seed \(generator.seed)\n\(life.story)")
                }
            }
        }
        #expect(isEnough(several, of: 500) && isEnough(fractions, of: 500), "\(several) and \(fractions)")
    }
}
