import Postgres
import PurchaseStore
import Simulation
import Stories
import Subscriptions
import TestSupport
import Testing

@Suite("In the database, the order of arrival")
struct OrderTests {
    /// How many orders are tried, over all stories.
    private static let orders = samples(of: 500, oneIn: 20)

    @Test("does not matter: orders with repeats, two appliers at once, end in the same rows")
    func anyOrder() async throws {
        let stories = try Story.catalogue.map { (name: $0.name, told: try Arrival.all(of: $0.performed())) }
            .filter { $0.told.count { $0.transaction != nil } >= 2 }
        #expect(stories.count >= 25)
        var generator = TestSupport.SeededGenerator()
        try await LedgerDatabase.with { database in
            // Runs 0… are the stories in order, one notification at a time; from then on they are shuffled.
            for (number, story) in stories.enumerated() {
                try await database.apply(lanes: [story.told.map { [$0.entry(run: number)] }])
            }
            var lanes: [[LedgerEntry]] = [[], []]
            for run in stories.count..<stories.count + Self.orders {
                let told = stories[run % stories.count].told
                var order = told + told.filter { _ in Int.random(in: 0..<3, using: &generator) == 0 }
                order.shuffle(using: &generator)
                for arrival in order {
                    lanes[Int.random(in: 0...1, using: &generator)].append(arrival.entry(run: run))
                }
            }
            let batches = lanes.map { $0.batches(of: 1...9, using: &generator) }
            let outcomes = try await database.apply(lanes: batches)

            let rows = try await database.rows()
            var unique = 0
            for run in stories.count..<stories.count + Self.orders {
                let story = stories[run % stories.count]
                unique += story.told.count
                guard rows[run] == rows[run % stories.count] else {
                    Issue.record(
                        """
                        \(story.name), run \(run) of seed \(generator.seed):
                        \(rows[run] ?? []) is not
                        \(rows[run % stories.count] ?? [])
                        """)
                    return
                }
            }
            #expect(outcomes.count { $0 != .duplicate } == unique)
        }
    }

    @Test("does not matter among notifications and the records that came by themselves beside them")
    func records() async throws {
        var generator = TestSupport.SeededGenerator()
        try await LedgerDatabase.with { database in
            for story in sampled(Story.catalogue, using: &generator) {
                let told = try Arrival.all(of: story.performed())
                guard told.contains(where: { $0.transaction != nil }) else { continue }
                // What is nested comes once more by itself; of some of it nothing else comes.
                let lost = told.count > 2 ? told.indices.randomElement(using: &generator) : nil
                var expected: [String]?
                for round in 0..<5 {
                    let notifications = told.enumerated().filter { $0.offset != lost }.map { $0.element.entry(run: 0) }
                    var entries = notifications + told.flatMap { $0.records(run: 0) }
                    if round > 0 {
                        // Repeats by another way.
                        entries += told.flatMap { $0.records(run: 0, from: .client) }
                        entries.shuffle(using: &generator)
                    }
                    for batch in entries.batches(of: 1...9, using: &generator) { try await database.apply(batch) }
                    let rows = try await database.rows()[0]
                    guard expected ?? rows == rows else {
                        Issue.record("\(story.name) of seed \(generator.seed): \(rows ?? []) is not \(expected ?? [])")
                        return
                    }
                    expected = expected ?? rows
                    try await database.empty()
                }
            }
        }
    }

    @Test("does not decide which of two notifications with the very same record stands behind it")
    func sharedRecord() async throws {
        // Two notifications may carry the byte-identical record, signed once: only the outer parts differ.
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        let line = customer.buy(.basicMonthly, at: 1_749_990_400_000)
        customer.requestRefund(of: customer.latest(of: line), at: 1_750_000_000_000)
        let told = customer.takeNotifications()
        var second = told[1]
        guard case .data(var data) = second.part else { return }
        data.transaction = told[0].transaction
        data.renewal = told[0].renewal
        second.part = .data(data)
        let arrivals = try [told[0], second].map { try Arrival($0, in: .example) }
        try await LedgerDatabase.with { database in
            for (run, order) in [[0, 1], [1, 0]].enumerated() {
                for index in order { try await database.apply([arrivals[index].entry(run: run)]) }
            }
            for (run, order) in [[0, 1], [1, 0]].enumerated() {
                try await database.apply(order.map { arrivals[$0].entry(run: run + 2) })
            }
            let rows = try await database.rows()
            for run in 1...3 { #expect(rows[run] == rows[0], "run \(run)") }
        }
    }

    @Test("does not matter where the latest record of a period takes its dates away")
    func vanishedPeriod() async throws {
        var customer = SimulatedSubscriber(lane: 1, seed: 1)
        let line = customer.buy(.basicMonthly, at: 1_749_990_400_000)
        customer.switchAutoRenew(line, on: false, at: 1_750_000_000_000)
        let told = customer.takeNotifications()
        var second = told[1]
        guard case .data(var data) = second.part else { return }
        data.transaction?.expiresDate = nil
        second.part = .data(data)
        let arrivals = try [told[0], second].map { try Arrival($0, in: .example) }
        try await LedgerDatabase.with { database in
            for (run, order) in [[0, 1], [1, 0]].enumerated() {
                for index in order { try await database.apply([arrivals[index].entry(run: run)]) }
            }
            let rows = try await database.rows()
            #expect(rows[1] == rows[0])
            // What Apple reported beside it is all that is left.
            #expect(
                try await database.count(
                    "select count(*) from storehook.subscriptions where 'records' = any(phase_basis)") == 0)
            #expect(
                try await database.count(
                    "select count(*) from storehook.anomalies where kind = 'transaction_unusable'") == 2)
        }
    }

    @Test("does not matter where some of it was only said, and beside what Apple signed that changes nothing")
    func unsigned() async throws {
        var generator = TestSupport.SeededGenerator()
        try await LedgerDatabase.with { database in
            for story in sampled(Story.catalogue, using: &generator) {
                let told = try Arrival.all(of: story.performed()).filter { $0.transaction != nil }
                guard !told.isEmpty else { continue }
                let days = told.map { _ in Int64.random(in: -3...40, using: &generator) }
                // Of every other notification there is only verifyReceipt's word.
                var expected: [String]?
                for round in 0..<4 {
                    var entries = zip(told, days).enumerated().flatMap { number, told in
                        let said = told.0.unsigned(run: 0, days: told.1)
                        return number.isMultiple(of: 2) ? said : said + [told.0.entry(run: 0)]
                    }
                    if round > 0 { entries.shuffle(using: &generator) }
                    for batch in entries.batches(of: 1...5, using: &generator) { try await database.apply(batch) }
                    let rows = try await database.rows()[0]
                    guard expected ?? rows == rows else {
                        Issue.record("\(story.name) of seed \(generator.seed): \(rows ?? []) is not \(expected ?? [])")
                        return
                    }
                    expected = expected ?? rows
                    try await database.empty()
                }
                // Where Apple signed all of it, what it said as well stands among the facts alone.
                try await database.apply(told.map { $0.entry(run: 0) })
                let signed = try await state(database)
                for (arrival, days) in zip(told, days) {
                    try await database.apply(arrival.unsigned(run: 0, days: days))
                }
                let both = try await state(database)
                guard both == signed else {
                    Issue.record("\(story.name) of seed \(generator.seed): \(both) is not \(signed)")
                    return
                }
                try await database.empty()
            }
        }
    }

    /// All rows but facts; whether a purchase may be derived in part, and when its evidence was stored, is not what it is.
    private func state(_ database: LedgerDatabase) async throws -> [String] {
        (try await database.rows()[0] ?? []).filter { !$0.hasPrefix("facts") }
            .map {
                $0.replacing(/"is_regular": (true|false)/, with: "")
                    .replacing(/"(first|last)_stored_at": "[^"]*"/, with: "")
            }
    }
}
