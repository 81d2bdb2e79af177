import AccountStore
import Accounts
import AppStorePayloads
import Base
import Foundation
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

/// The same facts end in the same rows.
struct OrderTests {
    /// What people recorded, at instants of its own.
    private enum Recorded: Sendable {
        case binding(Int, PurchaseBinding.Kind, account: Int, day: Int64)
        case act(account: Int, String, tier: String?, days: Int32?, day: Int64)

        func write(_ database: AccountDatabase) async throws {
            let store = database.store
            try await database.pool.withTransaction { session in
                switch self {
                case .binding(let number, let kind, let account, let day):
                    let key = purchase(number)
                    try Ledger.hold([key], session)
                    try session.query(
                        """
                        insert into storehook.purchase_bindings
                               (original_transaction_id, bundle_id, environment, kind, token, at, recorded_by, why)
                        values (\(key.originalTransactionID), \(key.bundleID), \(key.environment), \(kind.rawValue),
                                \(UUID(token(account))), \(PostgresTimestamp(Purchases.now.adding(days: day))), 'test', 'test')
                        """)
                    _ = try store.settle([key], session)
                case .act(let account, let kind, let tier, let days, let day):
                    _ = try store.settle([], naming: AccountIdentity(named: name(account)), session)
                    try session.query(
                        """
                        insert into storehook.staff_acts (token, kind, tier, days, at, recorded_by, why)
                        values (\(UUID(token(account))), \(kind), \(tier), \(days),
                                \(PostgresTimestamp(Purchases.now.adding(days: day))), 'test', 'test')
                        """)
                    _ = try store.settle([], naming: AccountIdentity(named: name(account)), session)
                }
            }
        }
    }

    private static let recorded: [Recorded] = [
        .binding(1, .staff, account: 3, day: -20), .binding(2, .proof, account: 4, day: -40),
        .binding(3, .erasure, account: 1, day: -30), .binding(3, .proof, account: 2, day: -10),
        .act(account: 1, "grant", tier: "premium", days: 30, day: -15),
        .act(account: 2, "revoke", tier: nil, days: nil, day: -25),
        .act(account: 2, "unrevoke", tier: nil, days: nil, day: -5),
        .act(account: 3, "change_tier", tier: "premium", days: nil, day: -18),
        .act(account: 4, "extend", tier: nil, days: 9, day: -35),
    ]

    @Test func `Every order of purchases, acts, bindings and the catalog ends in the same rows`() async throws {
        var generator = SeededGenerator()
        let entries = Purchases.many(12, accounts: 5, &generator)
        var expected: [String]?
        for round in 0..<6 {
            let (shuffled, recorded) = (
                entries.shuffled(using: &generator), Self.recorded.shuffled(using: &generator)
            )
            let place = Int.random(in: 0...shuffled.count, using: &generator)
            let rows = try await AccountDatabase.with { database in
                let (first, second) = (Array(shuffled[..<place]), Array(shuffled[place...]))
                if round.isMultiple(of: 2) { _ = try await database.store.apply(Shop.catalog(), by: "test") }
                for batch in first.batches(of: 7) { try await database.apply(batch) }
                for fact in recorded { try await fact.write(database) }
                if !round.isMultiple(of: 2) { _ = try await database.store.apply(Shop.catalog(), by: "test") }
                for batch in second.batches(of: 3) { try await database.apply(batch) }
                #expect(try await database.stale().isEmpty)
                return try await database.rows()
            }
            #expect(!rows.isEmpty)
            if let expected { #expect(rows == expected, "seed \(generator.seed), round \(round)") }
            expected = expected ?? rows
        }
    }

    @Test func `Two workers at once end in the rows of one`() async throws {
        var generator = SeededGenerator()
        let entries = Purchases.many(60, accounts: 6, &generator)
        let alone = try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.apply(entries)
            return try await database.rows()
        }
        let shuffled = entries.shuffled(using: &generator)
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<4 {
                    let own = shuffled.enumerated().filter { $0.offset % 4 == lane }.map(\.element)
                    group.addTask { for batch in own.batches(of: 5) { try await database.apply(batch) } }
                }
                try await group.waitForAll()
            }
            #expect(try await database.rows() == alone, "seed \(generator.seed)")
            #expect(try await database.stale().isEmpty)
        }
    }

    @Test func `SQL says of every instant what is kept what Swift says`() async throws {
        var generator = SeededGenerator()
        let entries = Purchases.many(30, accounts: 8, &generator)
        try await AccountDatabase.with { database in
            try await database.apply(entries)
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            for fact in Self.recorded { try await fact.write(database) }
            for account in 0..<8 {
                for _ in 0..<12 {
                    let day = Int64.random(in: -420...60, using: &generator)
                    let instant = Purchases.now.adding(days: day).adding(
                        milliseconds: Int64.random(in: 0...86_400_000, using: &generator))
                    let rows = try await database.pool.query(
                        """
                        select tier, status, source, expires_at from storehook.account_status_at(\(PostgresTimestamp(instant)))
                         where token = \(UUID(token(account))) and environment = 'Production'
                        """)
                    let told = try await database.store.history(of: token(account), in: "Production", at: instant)
                    guard let value = told?.current else {
                        #expect(rows.isEmpty, "seed \(generator.seed)")
                        continue
                    }
                    let row = try #require(rows.first, "\(instant), seed \(generator.seed)")
                    #expect(rows.count == 1, "seed \(generator.seed)")
                    #expect(try row.decode(0, as: String.self) == value.tier, "seed \(generator.seed)")
                    #expect(try row.decode(1, as: String.self) == value.status.rawValue, "seed \(generator.seed)")
                    #expect(try row.decode(2, as: String.self) == value.source.rawValue, "seed \(generator.seed)")
                    #expect(
                        try row.decode(3, as: PostgresTimestamp?.self) == value.expiresAt.map { PostgresTimestamp($0) },
                        "seed \(generator.seed)")
                }
            }
        }
    }

    @Test func `Where no catalog was applied nothing is written, and nothing is missing once one is`() async throws {
        var generator = SeededGenerator()
        try await AccountDatabase.with { database in
            try await database.apply(Purchases.many(10, accounts: 4, &generator))
            #expect(try await database.value("select count(*) from storehook.account_lines", as: Int64.self) == 0)
            #expect(try await database.value("select count(*) from storehook.accounts", as: Int64.self) == 0)
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            #expect(try await database.value("select count(*) from storehook.account_lines", as: Int64.self) > 0)
            #expect(try await database.stale().isEmpty)
        }
    }
}

extension Array {
    /// The elements in consecutive batches of `size`.
    func batches(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
