import AccountStore
import Accounts
import AppStorePayloads
import Foundation
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport
import Testing

/// Making a catalog current.
struct CatalogTests {
    @Test func `No account is stale, and no version shrinks, where catalogs are applied while workers go on`()
        async throws
    {
        var generator = SeededGenerator()
        let entries = Purchases.many(takesAllSamples ? 150 : 60, accounts: 60, &generator).shuffled(using: &generator)
        try await AccountDatabase.with { database in
            try await database.apply(Array(entries.prefix(20)))
            let watch = Task {
                var seen: [String: Int64] = [:]
                while !Task.isCancelled {
                    for row in try await database.pool.query(
                        "select token::text, environment, version from storehook.account_status_now")
                    {
                        let id = try "\(row.decode(0, as: String.self)) \(row.decode(1, as: String.self))"
                        let version: Int64 = try row.decode(2)
                        #expect(version >= seen[id, default: 0])
                        seen[id] = version
                    }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<3 {
                    let own = entries.enumerated().filter { $0.offset % 3 == lane }.map(\.element)
                    group.addTask { for batch in own.batches(of: 4) { try await database.apply(batch) } }
                }
                group.addTask {
                    for tiers in [["pro", "premium", "pro"], ["premium", "pro", nil], ["pro", nil, "premium"]] {
                        _ = try await database.store.apply(Shop.catalog(tiers), by: "test")
                    }
                }
                try await group.waitForAll()
            }
            watch.cancel()
            _ = try? await watch.value
            #expect(try await database.stale().isEmpty, "seed \(generator.seed)")
            // Every account that a purchase belongs to has its row.
            let missing: Int64 = try await database.value(
                """
                select count(*) from storehook.account_lines l
                 where not exists (select from storehook.account_status_now s
                                    where s.token = l.token and s.environment = l.environment)
                """)
            #expect(missing == 0, "seed \(generator.seed)")
        }
    }

    @Test func `A transaction that began before the catalog is waited for, and what it changed is not missed`()
        async throws
    {
        try await AccountDatabase.with { database in
            let entry = Purchases.period(purchase(1), "basic", from: -5, to: 25, account: token(1))
            // A worker that has seen that there is no catalog, and has not committed.
            try await database.apply([entry])
            let held = try await HeldTransaction(
                in: database.database,
                """
                update storehook.subscriptions set phase_product = array_fill('plus'::text, array[cardinality(phase_product)])
                 where exists (select from storehook.catalog_state where current_version is null)
                """)
            let applying = Task { try await database.store.apply(Shop.catalog(), by: "test") }
            try await eventually("it is waited for") { try await database.isWaitingForWriters() }
            #expect(try await database.value("select count(*) from storehook.account_status", as: Int64.self) == 0)
            try await held.release()
            _ = try await applying.value
            #expect(try await database.store.view(token(1), in: "Production").current.tier == "premium")
        }
    }

    @Test func `A catalog that cannot be used changes nothing, and the earlier ones stay`() async throws {
        try await AccountDatabase.with { database in
            await #expect(throws: CatalogFault.self) { try await database.store.apply("tiers: 5", by: "test") }
            #expect(try await database.store.current() == nil)
            let first = try await database.store.apply(Shop.catalog(), by: "test")
            let second = try await database.store.apply(Shop.catalog(["pro", nil, nil]), by: "test")
            #expect(first.version < second.version)
            #expect(try await database.store.current()?.version == second.version)
            #expect(try await database.value("select count(*) from storehook.catalogs", as: Int64.self) == 2)
        }
    }
}
