import AppStorePayloads
import Base
import Simulation
import Stories
import Subscriptions
import TestSupport
import Testing

@Suite("The order of arrival")
struct OrderTests {
    /// Beyond this many orders a story's are sampled.
    private static let most = samples(of: 5040)

    @Test(
        "does not matter: every order of a story, with any repeats, ends in the same facts and statuses",
        arguments: Story.catalogue.map(\.name))
    func anyOrder(_ name: String) throws {
        let story = try HeardStory(#require(Story.named(name)))
        let told = story.heard.filter { $0.purchase != nil }
        guard !told.isEmpty else { return }
        var generator = TestSupport.SeededGenerator()
        let expected = Ending(KnownFacts(told))
        if Permutations.count(of: told.count) <= Self.most {
            var orders = Permutations(count: told.count)
            while let order = orders.next() {
                guard ends(told, order, &generator) == expected else {
                    Issue.record("\(name) in the order \(order), seed \(generator.seed)")
                    return
                }
            }
        } else {
            for _ in 0..<Self.most {
                let order = told.indices.shuffled(using: &generator)
                guard ends(told, order, &generator) == expected else {
                    Issue.record("\(name) in the order \(order), seed \(generator.seed)")
                    return
                }
            }
        }
    }

    @Test("is tried on at least 25 stories of two and more notifications")
    func enough() throws {
        let lengths = try HeardStory.catalogue().map { $0.heard.count { $0.purchase != nil } }
        #expect(lengths.count { $0 >= 2 } >= 25)
        #expect(lengths.count { Permutations.count(of: $0) > Self.most } >= 1)
    }

    /// What a story ends in: all facts, and each line's status at twelve instants.
    private struct Ending: Equatable {
        let known: KnownFacts
        let statuses: [PurchaseKey: [StatusAtInstant?]]

        init(_ known: KnownFacts) {
            self.known = known
            statuses = known.purchases.compactMapValues { facts in
                guard let state = SubscriptionState(facts) else { return nil }
                return Self.instants.map { state.status(at: $0) }
            }
        }

        /// Stories begin here and last for up to two years.
        private static let instants: [Timestamp] = [-1, 0, 1, 6, 11, 20, 31, 38, 46, 61, 92, 400].map {
            Timestamp(millisecondsSince1970: 1_749_990_400_000).adding(days: $0)
        }
    }

    private func ends(
        _ told: [HeardNotification], _ order: [Int], _ generator: inout TestSupport.SeededGenerator
    ) -> Ending {
        var known = KnownFacts()
        for (place, index) in order.enumerated() {
            known.merge(told[index])
            // Now and then one that came before comes again.
            if generator.next() & 3 == 0 {
                known.merge(told[order[Int(truncatingIfNeeded: generator.next() >> 1) % (place + 1)]])
            }
        }
        return Ending(known)
    }
}

/// Every order of `count` things (Heap's algorithm), one after the other.
struct Permutations {
    private var order: [Int]
    private var counters: [Int]
    private var place = 1
    private var isFirst = true

    /// How many orders so many things have; `Int.max` where they are more than that.
    static func count(of things: Int) -> Int {
        var orders = 1
        for factor in 1...max(things, 1) {
            let (product, isTooLarge) = orders.multipliedReportingOverflow(by: factor)
            if isTooLarge { return .max }
            orders = product
        }
        return orders
    }

    init(count: Int) {
        order = Array(0..<count)
        counters = Array(repeating: 0, count: count)
    }

    mutating func next() -> [Int]? {
        if isFirst {
            isFirst = false
            return order
        }
        while place < order.count {
            if counters[place] < place {
                order.swapAt(place.isMultiple(of: 2) ? 0 : counters[place], place)
                counters[place] += 1
                place = 1
                return order
            }
            counters[place] = 0
            place += 1
        }
        return nil
    }
}

@Suite("Permutations")
struct PermutationsTests {
    @Test("are all there, each once", arguments: [0, 1, 2, 3, 6])
    func complete(_ count: Int) {
        var permutations = Permutations(count: count)
        var seen = Set<[Int]>()
        var number = 0
        while let order = permutations.next() {
            seen.insert(order)
            number += 1
        }
        #expect(number == Permutations.count(of: count))
        #expect(seen.count == number)
    }
}
