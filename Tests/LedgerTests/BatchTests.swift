import AppStorePayloads
import Postgres
import PurchaseStore
import Simulation
import TestSupport
import Testing

@Suite("A batch")
struct BatchTests {
    @Test("of 1, of 7 and of 100 ends in the same rows")
    func sizes() async throws {
        var generator = TestSupport.SeededGenerator()
        let simulation = Simulation(
            seed: generator.next(), subscribers: 60, notifications: samples(of: 600, oneIn: 3), duplicatePercent: 10,
            order: .shuffledWithin(50), endingAt: 1_767_225_600_000)
        let arrivals = try simulation.deliveries.map { try Arrival($0.notification, in: .example) }
        try await LedgerDatabase.with { database in
            let sizes = [1, 7, 100]
            for (run, size) in sizes.enumerated() {
                for batch in arrivals.map({ $0.entry(run: run) }).batches(of: size) { try await database.apply(batch) }
            }
            let rows = try await database.rows()
            #expect(rows[0]?.isEmpty == false)
            for run in 1..<sizes.count {
                #expect(rows[run] == rows[0], "batches of \(sizes[run]), seed \(generator.seed)")
            }
        }
    }

    @Test("of none does nothing")
    func empty() async throws {
        try await LedgerDatabase.with { database in
            let outcomes = try await database.apply([])
            #expect(outcomes.isEmpty)
        }
    }

    @Test("tells what became of each entry, in order: the first of a UUID is recorded, the rest are duplicates")
    func outcomes() async throws {
        let told = try Arrival.all(of: "unknown-type")
        try await LedgerDatabase.with { database in
            let first = [told[0], told[0], told[1], told[0]].map { $0.entry() }
            #expect(try await database.apply(first) == [.applied, .duplicate, .parked, .duplicate])
            let second = [told[1], told[2], told[0]].map { $0.entry() }
            #expect(try await database.apply(second) == [.duplicate, .applied, .duplicate])
            #expect(try await database.count("select count(*) from storehook.notifications") == 3)
            // The row that is recorded is the one that was told to be.
            let kept = try await database.connection.query(
                "select outbox_id from storehook.notifications order by outbox_id")
            #expect(
                try kept.map { try $0.decode(0, as: Int64.self) } == [first[0], first[2], second[1]].map(\.outboxID))
        }
    }

    @Test("parks a type that nobody knows, and takes its signed parts as facts all the same")
    func parked() async throws {
        let told = try Arrival.all(of: "unknown-type-with-news")
        try await LedgerDatabase.with { database in
            #expect(try await database.apply([told[0].entry()]) == [.applied])
            #expect(try await database.apply([told[1].entry()]) == [.parked])
            let row = try await database.connection.query(
                """
                select n.type, n.outcome, s.will_renew, r.auto_renew, s.status
                  from storehook.notifications n
                  join lateral storehook.status_at(n.signed_at) s
                       on s.original_transaction_id = n.original_transaction_id collate "default"
                  join storehook.renewals r
                       on r.original_transaction_id = n.original_transaction_id
                 where outcome = 'parked'
                """
            ).one()
            #expect(try row.decode("type", as: String.self) == "RENEWAL_MOOD_CHANGED")
            #expect(try row.decode("will_renew", as: Bool.self) == false)
            #expect(try row.decode("auto_renew", as: Bool.self) == false)
            #expect(try row.decode("status", as: String.self) == "cancelled")
        }
    }

    @Test("records what is about no purchase, and derives nothing from it")
    func noPurchase() async throws {
        let names = ["test", "external-purchase-token", "consent-rescinded"]
        let told = try names.flatMap { try Arrival.all(of: $0) }
        try await LedgerDatabase.with { database in
            let outcomes = try await database.apply(told.map { $0.entry() })
            #expect(outcomes.allSatisfy { $0 == .applied })
            #expect(try await database.count("select count(*) from storehook.notifications") == Int64(told.count))
            #expect(try await database.rows().isEmpty)
        }
    }
}
