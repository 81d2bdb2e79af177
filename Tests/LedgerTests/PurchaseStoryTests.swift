import AppStorePayloads
import Base
import Postgres
import PurchaseStore
import Simulation
import Subscriptions
import TestSupport
import Testing

@Suite("The story of a purchase, out of the database")
struct PurchaseStoryTests {
    private static let lives = samples(of: 20, oneIn: 3)
    private static let shuffles = samples(of: 30)

    @Test("has the same rows however the notifications of lives are shuffled: of 20, and by default of six")
    func anyOrder() async throws {
        var generator = TestSupport.SeededGenerator()
        let simulation = Simulation(
            seed: generator.next(), subscribers: 60, notifications: 900, endingAt: 1_767_225_600_000)
        var purchases: [String: [Arrival]] = [:]
        for delivery in simulation.deliveries {
            let arrival = try Arrival(delivery.notification, in: .example)
            guard let id = arrival.transaction?.payload.originalTransactionId else { continue }
            purchases[id, default: []].append(arrival)
        }
        let lives = purchases.sorted { ($0.value.count, $0.key) > ($1.value.count, $1.key) }.prefix(Self.lives)
        #expect(lives.count == Self.lives && lives.allSatisfy { $0.value.count >= 5 })
        try await LedgerDatabase.with { database in
            // Run 0 is told in order, one notification at a time.
            try await database.apply(lanes: [lives.flatMap(\.value).map { [$0.entry(run: 0)] }])
            var lanes: [[LedgerEntry]] = [[], []]
            for run in 1...Self.shuffles {
                for arrival in lives.flatMap(\.value).shuffled(using: &generator) {
                    lanes[Int.random(in: 0...1, using: &generator)].append(arrival.entry(run: run))
                }
            }
            try await database.apply(lanes: lanes.map { $0.batches(of: 1...40, using: &generator) })
            try await database.withReader { reader in
                for (id, told) in lives {
                    let stories = try await reader.story(of: id)
                    #expect(stories.count == Self.shuffles + 1)
                    let expected = try #require(stories.first { $0.purchase.bundleID.hasPrefix("0/") })
                    #expect(expected.entries.count == told.count)
                    #expect(expected.entries.allSatisfy { $0.learned != nil })
                    let rows = expected.rows
                    for story in stories where story.rows != rows {
                        Issue.record("\(story.purchase) of seed \(generator.seed): \(story.rows) is not \(rows)")
                        return
                    }
                }
            }
        }
    }

    @Test("as it was learned is told in that order, with what was believed then, and ends in what is true")
    func asLearned() async throws {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        let line = customer.buy(.basicMonthly, at: 1_749_990_400_000)
        customer.renew(line)
        customer.switchAutoRenew(line, on: false, at: 1_749_990_400_000 + 40 * 86_400_000)
        customer.expire(line)
        let told = try customer.takeNotifications().map { try Arrival($0, in: .example) }
        let id = try #require(told[0].transaction?.payload.originalTransactionId)
        try await LedgerDatabase.with { database in
            // The end is heard first, then the beginning, then what was between.
            for index in [3, 0, 2, 1] { try await database.apply([told[index].entry()]) }
            try await database.withReader { reader in
                let beliefs = try await reader.asLearned(of: id)
                #expect(beliefs.map(\.notificationUUID) == [3, 0, 2, 1].map { told[$0].notification.uuid })
                #expect(beliefs.map { $0.believed?.status } == [.expired, .expired, .expired, .expired])
                let end = told[3].notification.signedDate
                #expect(beliefs.allSatisfy { $0.asOf >= end })
                let story = try #require(try await reader.story(of: id).first)
                #expect(beliefs.last?.believed == story.entries.last?.recorded.after)
                #expect(story.entries.map { $0.recorded.after?.status } == [.active, .active, .cancelled, .expired])
            }
        }
    }

    @Test("as it was learned changes with what is learned, and leaves out what lies more than 500 pieces back")
    func manyBeliefs() async throws {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        let line = customer.buy(.basicMonthly, at: 1_749_990_400_000)
        for turn in 1...509 {
            customer.switchAutoRenew(line, on: turn.isMultiple(of: 2), at: 1_749_990_400_000 + Int64(turn) * 60_000)
        }
        let told = try customer.takeNotifications().map { try Arrival($0, in: .example) }
        let id = try #require(told[0].transaction?.payload.originalTransactionId)
        try await LedgerDatabase.with { database in
            try await database.apply(told.map { $0.entry() })
            try await database.withReader { reader in
                let beliefs = try await reader.asLearned(of: id)
                #expect(beliefs.count == 500)
                #expect(beliefs.first?.notificationUUID == told[10].notification.uuid)
                #expect(beliefs.suffix(3).map { $0.believed?.status } == [.cancelled, .active, .cancelled])
            }
        }
    }

    @Test("is told of what is bought once, which is answered beside subscriptions")
    func oneTime() async throws {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        let coins = customer.charge(.coins, quantity: 2, at: 1_749_990_400_000)
        customer.refund(coins, reason: 1, at: 1_750_000_000_000)
        let told = try customer.takeNotifications().map { try Arrival($0, in: .example) }
        let id = try #require(told[0].transaction?.payload.originalTransactionId)
        try await LedgerDatabase.with { database in
            try await database.apply(told.reversed().map { $0.entry() })
            try await database.withReader { reader in
                let purchase = try #require(try await reader.oneTimePurchases(of: id).first).value
                #expect(purchase.quantity == 2 && purchase.revokedAt != nil && purchase.kind == .consumable)
                #expect(purchase.revokedReason == .appIssue)
                let story = try #require(try await reader.story(of: id).first)
                #expect(
                    story.entries.map(\.recorded.words)
                        == ["bought 2 × coins.100, 1.98 USD", "refund (app issue) of coins.100: 1.98 USD went back"])
                #expect(try await reader.story(of: "4711").isEmpty)
                // The rows of earlier programs do not say why.
                try await database.connection.query("update storehook.purchase_facts set revocation_reason = null")
                #expect(try await reader.story(of: id).first?.rows == story.rows)
            }
        }
    }
}

extension RecordedStory {
    /// What is told, without when it was learned. The run's mark is taken out of notification UUIDs.
    fileprivate var rows: [PurchaseStory.Entry] {
        entries.map { entry in
            var told = entry.recorded
            told.notificationUUID = told.notificationUUID.map { UniqueIdentifier(high: $0.high, low: 0) }
            return told
        }
    }
}

extension LedgerDatabase {
    /// Runs `body` with a reader of this database.
    fileprivate func withReader(_ body: (LedgerReader) async throws -> Void) async throws {
        let pool = PostgresPool(configuration: configuration, size: 1, logger: quiet)
        do { try await body(LedgerReader(pool)) } catch {
            await pool.close()
            throw error
        }
        await pool.close()
    }
}
