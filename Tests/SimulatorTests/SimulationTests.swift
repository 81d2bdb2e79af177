import Testing

@testable import Simulation

@Suite("A simulation for load")
struct SimulationTests {
    private static let now: Milliseconds = 1_790_000_000_000

    private func simulation(
        seed: UInt64 = 7, subscribers: Int? = nil, notifications: Int = 3000, duplicatePercent: Int = 0,
        order: Simulation.Order = .signed
    ) -> Simulation {
        Simulation(
            seed: seed, subscribers: subscribers, notifications: notifications, duplicatePercent: duplicatePercent,
            order: order, endingAt: Self.now)
    }

    @Test("is the same for the same seed, and another for another")
    func determinism() {
        let first = Array(simulation().deliveries)
        #expect(first == Array(simulation().deliveries))
        #expect(first.map(\.notification.uuid) != simulation(seed: 8).deliveries.map(\.notification.uuid))
    }

    @Test("has exactly the repeats that were asked for", arguments: [0, 1, 10, 33, 50, 90, 99])
    func duplicates(percent: Int) {
        let simulation = simulation(notifications: 1234, duplicatePercent: percent)
        var seen: Set<String> = []
        var repeats = 0
        for delivery in simulation.deliveries {
            let isNew = seen.insert(delivery.notification.uuid).inserted
            #expect(isNew != delivery.isDuplicate)
            repeats += isNew ? 0 : 1
        }
        #expect(repeats == 1234 * percent / 100)
        #expect(simulation.duplicates == repeats)
        #expect(simulation.unique == seen.count)
        let summary = simulation.summary
        #expect(summary.total == 1234)
        #expect(summary.unique == seen.count)
        #expect(summary.duplicates == repeats)
        #expect(summary.uniqueByType.values.reduce(0, +) == seen.count)
    }

    @Test("comes in the order of signed dates and ends at the instant that was asked for")
    func order() throws {
        let dates = simulation(subscribers: 100).deliveries.map(\.notification.signedDate)
        #expect(dates == dates.sorted())
        let last = try #require(dates.last)
        #expect(abs(Self.now - last) <= 1000)
    }

    @Test("has the same notifications when shuffled, near their places when told so")
    func shuffle() {
        let plain = simulation().deliveries.map(\.notification)
        let whole = simulation(order: .shuffled).deliveries.map(\.notification)
        let near = simulation(order: .shuffledWithin(50)).deliveries.map(\.notification)
        #expect(whole != plain && near != plain)
        #expect(Set(whole) == Set(plain))
        #expect(Set(near) == Set(plain))
        let places = Dictionary(uniqueKeysWithValues: plain.enumerated().map { ($1.uuid, $0) })
        for (place, notification) in near.enumerated() {
            #expect((places[notification.uuid] ?? 0) < place + 50)
        }
    }

    @Test("takes at most two years, however few the subscribers", arguments: [1, 3, 30])
    func pace(subscribers: Int) throws {
        let summary = simulation(subscribers: subscribers, notifications: 5000).summary
        let first = try #require(summary.firstSignedDate)
        let last = try #require(summary.lastSignedDate)
        #expect(last - first <= .days(731))
    }

    @Test("never gives two subscribers the same transaction")
    func identifiers() {
        var owner: [String: String] = [:]
        var originals: [String: String] = [:]
        for delivery in simulation(subscribers: 200).deliveries {
            guard let transaction = delivery.notification.transaction else { continue }
            let original = transaction.originalTransactionId
            #expect(owner.updateValue(original, forKey: transaction.transactionId) ?? original == original)
            let download = transaction.appTransactionId ?? ""
            #expect(originals.updateValue(download, forKey: original) ?? download == download)
        }
    }

    @Test("repeats byte for byte")
    func identicalTexts() throws {
        let authority = try SimulatedAuthority.generate()
        let simulation = simulation(notifications: 400, duplicatePercent: 50)
        var texts: [Int: String] = [:]
        for (delivery, text) in zip(simulation.deliveries, simulation.signedDeliveries(by: authority)) {
            #expect(texts.updateValue(text, forKey: delivery.unique) ?? text == text)
        }
        #expect(Set(texts.values).count == simulation.unique)
    }

    @Test("lets every kind of life happen")
    func variety() {
        let types = Set(simulation(notifications: 10_000).summary.uniqueByType.keys)
        let expected: Set<String> = [
            "SUBSCRIBED", "DID_RENEW", "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED",
            "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "EXPIRED", "PRICE_INCREASE", "REFUND", "REFUND_DECLINED",
            "REFUND_REVERSED", "REVOKE", "CONSUMPTION_REQUEST", "RENEWAL_EXTENDED", "ONE_TIME_CHARGE",
            "EXTERNAL_PURCHASE_TOKEN", "TEST", "SUBSCRIPTION_PAUSED",
        ]
        #expect(types == expected)
    }
}
