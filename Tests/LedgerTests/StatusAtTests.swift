import AppStorePayloads
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Ledger

@Suite("status_at")
struct StatusAtTests {
    /// A line at an instant, and what the Swift function says of it.
    private struct Expected {
        var line: String
        var at: PostgresTimestamp
        var value: StatusAtInstant
        var accessUntil: Timestamp
    }

    private static let chunks = 20
    private static let linesPerChunk = 1000

    @Test(
        "is the same function in SQL as in Swift, for 20,000 random sets of facts at boundaries, beside them and far away"
    )
    func agrees() async throws {
        let seed = TestSupport.SeededGenerator().seed
        var random = RandomEntries(TestSupport.SeededGenerator(seed: seed))
        try await LedgerDatabase.with { database in
            var sets = 0
            for chunk in 0..<Self.chunks {
                var transitions: [StateTransition] = []
                var expected: [Expected] = []
                while transitions.count < Self.linesPerChunk {
                    sets += 1
                    let line = PurchaseKey(
                        environment: "Sandbox", bundleID: "app", originalTransactionID: "\(chunk)-\(transitions.count)")
                    let facts = LedgerEntry.facts(in: random.draw(about: line))
                    guard let state = SubscriptionState(facts) else { continue }
                    transitions.append(StateTransition(line: line, before: nil, after: state))
                    expected += Self.expected(of: line, facts, state, &random.generator)
                }
                let changed = transitions
                try await database.connection.withTransaction { session in
                    let rows = PostgresQuery.subscriptions(changed.map { (line: $0.line, state: $0.after) })
                    _ = try session.query(LedgerTable.subscriptions.upsert(rows))
                }
                guard try await differences(expected, database) == [] else {
                    Issue.record("chunk \(chunk) of seed \(seed)")
                    return
                }
            }
            #expect(sets >= 20_000)
        }
    }

    @Test("and reads back through the ledger what random notifications said, in whatever batches they came")
    func throughTheLedger() async throws {
        let seed = TestSupport.SeededGenerator().seed
        var random = RandomEntries(TestSupport.SeededGenerator(seed: seed))
        try await LedgerDatabase.with { database in
            var entries: [LedgerEntry] = []
            var expected: [Expected] = []
            var states = 0
            for number in 0..<1500 {
                let line = PurchaseKey(environment: "Sandbox", bundleID: "app", originalTransactionID: "\(number)")
                let own = random.draw(about: line)
                entries += own
                let facts = LedgerEntry.facts(in: own)
                guard let state = SubscriptionState(facts) else { continue }
                states += 1
                expected += Self.expected(of: line, facts, state, &random.generator)
            }
            entries.shuffle(using: &random.generator)
            for batch in entries.batches(of: 1...400, using: &random.generator) { try await database.apply(batch) }
            #expect(try await differences(expected, database) == [], "seed \(seed)")
            #expect(
                try await database.count("select count(*) from storehook.subscriptions") == Int64(states),
                "seed \(seed)")
        }
    }

    private static func expected(
        of line: PurchaseKey, _ facts: PurchaseFacts, _ state: SubscriptionState,
        _ generator: inout some RandomNumberGenerator
    ) -> [Expected] {
        let phases = state.phases
        var instants = facts.boundaries.shuffled(using: &generator).prefix(4).map {
            $0.adding(milliseconds: .random(in: -1...1, using: &generator))
        }
        instants.append(Timestamp(millisecondsSince1970: -62_135_769_600_000))
        instants.append(Timestamp(millisecondsSince1970: 253_402_300_799_999))
        return instants.map { instant in
            let value = state.status(at: instant)
            // Grace outlasts what was paid for: to the phase after it.
            let next = phases.first { instant < $0.startsAt && $0.value != value }
            let accessUntil = value.status == .gracePeriod ? next?.startsAt : value.expiresAt
            return Expected(
                line: line.originalTransactionID, at: PostgresTimestamp(instant), value: value,
                accessUntil: accessUntil ?? .distantFuture)
        }
    }

    /// What the database says otherwise.
    private func differences(_ expected: [Expected], _ database: LedgerDatabase) async throws -> [String] {
        let rows = try await database.connection.query(
            """
            select concat_ws(' ', e.line, e.at, 'is', s.status, s.product_id, s.expires_at, s.in_trial, s.access,
                             s.apple_status, s.access_until, 'and not', e.status, e.product, e.expires, e.trial, e.access,
                             e.number, e.access_until)
              from unnest(\(expected.map(\.line)), \(expected.map(\.at)), \(expected.map(\.value.status.rawValue)),
                          \(expected.map(\.value.productID)), \(expected.map { PostgresTimestamp($0.value.expiresAt) }),
                          \(expected.map(\.value.inTrial)), \(expected.map(\.value.status.access)),
                          \(expected.map { Int16($0.value.status.appleStatus) }),
                          \(expected.map { PostgresTimestamp($0.accessUntil) }))
                   as e (line, at, status, product, expires, trial, access, number, access_until)
              left join lateral (select * from storehook.status_at(e.at) s where s.original_transaction_id = e.line collate "C") s
                on true
             where (s.status, s.product_id, s.expires_at, s.in_trial, s.access, s.apple_status, s.access_until)
                   is distinct from (e.status, e.product, e.expires, e.trial, e.access, e.number, e.access_until)
             limit 5
            """, deadline: .seconds(120))
        return try rows.map { try $0.decode(0) }
    }
}
