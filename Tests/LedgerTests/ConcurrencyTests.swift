import AppStorePayloads
import Ledger
import Postgres
import Simulator
import TestSupport
import Testing

@Suite("Appliers at once")
struct ConcurrencyTests {
    private static let rounds = 12

    @Test("on the same notifications never deadlock, and record each once", arguments: [2, 4])
    func sameNotifications(appliers: Int) async throws {
        // Everybody has everything, in an order of their own.
        try await manyRounds { arrivals, generator in
            (0..<appliers).map { _ in arrivals.shuffled(using: &generator) }
        }
    }

    @Test("on different notifications of the same lines never deadlock, and record each once", arguments: [2, 4])
    func sameLines(appliers: Int) async throws {
        // Whoever is held up by nobody's notification meets the others at the lines.
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

        // Each line has its row, with Apple's latest reportedStatus.
        var reportedStatuses: [String: (signedAt: Timestamp, status: Int64)] = [:]
        var lines = Set<String>()
        for arrival in arrivals {
            guard let line = arrival.transaction?.payload.originalTransactionId else { continue }
            lines.insert(line)
            guard case .data(let data) = arrival.notification.part, let status = data.status?.rawValue else { continue }
            let new = (signedAt: arrival.notification.signedDate, status: status)
            if let known = reportedStatuses[line], known >= new { continue }
            reportedStatuses[line] = new
        }
        let rows = try await database.connection.query(
            """
            select original_transaction_id, apple_status from storehook.purchase_lines where bundle_id = \(bundleID)
            """)
        #expect(try Set(rows.map { try $0.decode(0, as: String.self) }) == lines, "\(`where`)")
        for row in rows {
            let line = try row.decode(0, as: String.self)
            let status = try row.decode(1, as: Int16?.self)
            #expect(status.map { Int64($0) } == reportedStatuses[line]?.status, "\(line), \(`where`)")
        }

        // Each notification of a subscription has one row in the timeline.
        let told = arrivals.count { $0.renewal != nil }
        let changes = try await database.count(
            "select count(*) from storehook.subscription_changes where bundle_id = \(bundleID)")
        let unique = try await database.count(
            """
            select count(distinct notification_uuid) from storehook.subscription_changes where bundle_id = \(bundleID)
            """)
        #expect(Int(changes) == told && changes == unique, "\(`where`)")

        // Whoever came first, the rows are those of one applier.
        if run == 0 {
            try await database.apply(lanes: [arrivals.map { [$0.entry(run: 1000)] }])
            let all = try await database.rows()
            #expect(all[0] == all[1000], "\(`where`)")
        }
    }
}
