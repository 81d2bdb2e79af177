import AppStorePayloads
import Base
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import PurchaseStore

@Suite("status_at")
struct StatusAtTests {
    /// A purchase at an instant, and what the Swift function says of it.
    private struct Expected {
        var purchase: String
        var at: PostgresTimestamp
        var value: StatusAtInstant?
    }

    private static let chunks = samples(of: 20, oneIn: 20)
    private static let purchasesPerChunk = 1000

    @Test(
        "is the same function in SQL as in Swift, for random purchases at boundaries, beside them and far away",
        .timeLimit(.minutes(takesAllSamples ? 30 : 5)))
    func agrees() async throws {
        let seed = TestSupport.SeededGenerator().seed
        var random = RandomEntries(TestSupport.SeededGenerator(seed: seed))
        try await LedgerDatabase.with { database in
            var states = 0
            for chunk in 0..<Self.chunks {
                var entries: [LedgerEntry] = []
                var expected: [Expected] = []
                for number in 0..<Self.purchasesPerChunk {
                    let key = PurchaseKey(
                        environment: "Sandbox", bundleID: "app", originalTransactionID: "\(chunk)-\(number)")
                    let own = random.draw(about: key)
                    entries += own
                    let facts = LedgerEntry.facts(in: own)
                    let state = SubscriptionState(facts, in: key.environment)
                    if state != nil { states += 1 }
                    expected += Self.expected(of: key, facts, state, &random.generator)
                }
                // However they come: the batches of one purchase's entries are often several.
                entries.shuffle(using: &random.generator)
                for batch in entries.batches(of: 1...400, using: &random.generator) { try await database.apply(batch) }
                let found = try await differences(expected, database)
                guard found == [] else {
                    Issue.record("chunk \(chunk) of seed \(seed): \(found)")
                    return
                }
            }
            #expect(
                try await database.count("select count(*) from storehook.subscriptions") == Int64(states),
                "seed \(seed)")
        }
    }

    private static func expected(
        of key: PurchaseKey, _ facts: PurchaseFacts, _ state: SubscriptionState?,
        _ generator: inout some RandomNumberGenerator
    ) -> [Expected] {
        var instants = facts.boundaries.shuffled(using: &generator).prefix(4).map {
            $0.adding(milliseconds: .random(in: -1...1, using: &generator))
        }
        instants.append(Timestamp(millisecondsSince1970: -62_135_769_600_000))
        instants.append(Timestamp(millisecondsSince1970: 253_402_300_799_999))
        return instants.map {
            Expected(purchase: key.originalTransactionID, at: PostgresTimestamp($0), value: state?.status(at: $0))
        }
    }

    /// What the database says otherwise.
    private func differences(_ expected: [Expected], _ database: LedgerDatabase) async throws -> [String] {
        let rows = try await database.connection.query(
            """
            select concat_ws(' ', e.purchase, e.at, 'is', s.status, s.product_id, s.expires_at, s.in_trial, s.access,
                             s.access_until, s.period_ends_at, s.will_renew, s.basis, s.app_account_token, 'and not', e.status,
                             e.product, e.expires, e.trial, e.access, e.access_until, e.period_ends, e.will_renew, e.basis,
                             e.account)
              from unnest(\(expected.map(\.purchase)), \(expected.map(\.at)), \(expected.map { $0.value?.status.rawValue }),
                          \(expected.map { $0.value?.productID }),
                          \(expected.map { $0.value.map { PostgresTimestamp($0.expiresAt) } }),
                          \(expected.map { $0.value?.inTrial }), \(expected.map { $0.value?.status.access }),
                          \(expected.map { $0.value.map { PostgresTimestamp($0.accessUntil) } }),
                          \(expected.map { $0.value.map { PostgresTimestamp($0.periodEndsAt) } }),
                          \(expected.map { $0.value?.willRenew }), \(expected.map { $0.value?.basis.rawValue }),
                          \(expected.map { $0.value?.appAccountToken.map(UUID.init) }))
                   as e (purchase, at, status, product, expires, trial, access, access_until, period_ends, will_renew, basis,
                         account)
              left join lateral (
                   select * from storehook.status_at(e.at) s where s.original_transaction_id = e.purchase collate "C") s on true
             where (s.status, s.product_id, s.expires_at, s.in_trial, s.access, s.access_until, s.period_ends_at, s.will_renew,
                    s.basis, s.app_account_token)
                   is distinct from (e.status, e.product, e.expires, e.trial, e.access, e.access_until, e.period_ends,
                                     e.will_renew, e.basis, e.account)
             limit 5
            """, deadline: .seconds(120))
        return try rows.map { try $0.decode(0) }
    }
}
