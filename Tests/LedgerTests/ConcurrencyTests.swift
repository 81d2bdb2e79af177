import AppStorePayloads
import Postgres
import PurchaseStore
import Simulation
import TestSupport
import Testing

@Suite("Appliers at once")
struct ConcurrencyTests {
    private static let rounds = samples(of: 12, oneIn: 3)

    @Test("on the same notifications never deadlock, and record each once", arguments: [2, 4])
    func sameNotifications(appliers: Int) async throws {
        // Everybody has everything, in an order of their own.
        try await manyRounds { arrivals, generator in
            (0..<appliers).map { _ in arrivals.shuffled(using: &generator) }
        }
    }

    @Test("on different notifications of the same lines never deadlock, and record each once", arguments: [2, 4])
    func sameLines(appliers: Int) async throws {
        // No two appliers have the same notification: they meet at the lines.
        try await manyRounds { arrivals, generator in
            var lanes: [[Arrival]] = Array(repeating: [], count: appliers)
            for arrival in arrivals.shuffled(using: &generator) {
                lanes[Int.random(in: lanes.indices, using: &generator)].append(arrival)
            }
            return lanes
        }
    }

    /// Applies many streams, dealt out to appliers that work at once; a deadlock (40P01) would end in an error.
    private func manyRounds(
        _ deal: ([Arrival], inout TestSupport.SeededGenerator) -> [[Arrival]]
    ) async throws {
        var generator = TestSupport.SeededGenerator()
        try await LedgerDatabase.with { database in
            for round in 0..<Self.rounds {
                let simulation = Simulation(
                    seed: generator.next(), subscribers: 25, notifications: 120, endingAt: 1_767_225_600_000)
                let arrivals = try simulation.deliveries.map { try Arrival($0.notification, in: .example) }
                let lanes = deal(arrivals, &generator).map { lane in
                    lane.map { $0.entry(run: round) }.batches(of: 5...60, using: &generator)
                }
                let outcomes = try await database.apply(lanes: lanes)
                #expect(outcomes.count { $0 != .duplicate } == arrivals.count, "seed \(generator.seed)")
                try await check(database, arrivals, round, "round \(round) of seed \(generator.seed)")
            }
        }
    }

    /// The database holds what the notifications say, once.
    private func check(
        _ database: LedgerDatabase, _ arrivals: [Arrival], _ run: Int, _ where: String
    ) async throws {
        let bundleID = "\(run)/\(SimulatedApp.example.bundleId)"
        let recorded = try await database.count(
            "select count(*) from storehook.notifications where bundle_id = \(bundleID)")
        #expect(Int(recorded) == arrivals.count, "\(`where`)")

        // Each purchase has its row, and what each notification said of it stands once.
        let purchases = Set(arrivals.compactMap { $0.transaction?.payload.originalTransactionId })
        let rows = try await database.connection.query(
            "select original_transaction_id from storehook.purchase_lines where bundle_id = \(bundleID)")
        #expect(try Set(rows.map { try $0.decode(0, as: String.self) }) == purchases, "\(`where`)")
        let said = try await database.count(
            "select count(*) from storehook.purchase_facts where bundle_id = \(bundleID)")
        #expect(Int(said) == arrivals.count { $0.transaction != nil || $0.renewal != nil }, "\(`where`)")

        // Whichever applier came first, the rows are those of a single one.
        if run == 0 {
            try await database.apply(lanes: [arrivals.map { [$0.entry(run: 1000)] }])
            let all = try await database.rows()
            let (many, one) = (Set(all[0] ?? []), Set(all[1000] ?? []))
            #expect(many.subtracting(one).sorted() == [], "\(`where`)")
            #expect(one.subtracting(many).sorted() == [], "\(`where`)")
        }
    }
}
