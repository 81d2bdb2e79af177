import AccountStore
import Accounts
import AppStorePayloads
import Base
import Pipeline
import Postgres
import PurchaseStore
import Schema
import Simulation
import Subscriptions
import TestSupport
import Testing

/// Products that customers hold and that the catalog lacks.
struct UnsoldProductTests {
    /// The pipeline as every program has it, without events.
    private static func apply(_ entries: [LedgerEntry], _ pipeline: EvidencePipeline, _ database: AccountDatabase)
        async throws
    {
        _ = try await database.pool.withTransaction { try pipeline.apply(entries, $0) }
    }

    private static func pipeline(_ database: AccountDatabase) -> EvidencePipeline {
        EvidencePipeline(database.pool, events: nil)
    }

    private static func noted(_ database: AccountDatabase) async throws -> [String] {
        try await database.pool.query(
            """
            select environment || ' ' || product_id || case when held_until = 'infinity' then ' forever'
                   else ' ' || (held_until at time zone 'UTC')::date - (now() at time zone 'UTC')::date end
              from storehook.purchased_products order by 1
            """
        ).map { try $0.decode(0) }
    }

    @Test func `What customers hold and the catalog lacks is listed, counted and gone once it is sold or has ended`()
        async throws
    {
        try await AccountDatabase.with { database in
            let pipeline = Self.pipeline(database)
            try await Self.apply(
                [
                    Purchases.period(purchase(1), "basic", from: -3, to: 27, account: token(1)),
                    Purchases.period(purchase(2), "old", from: -30, to: -1, account: token(2)),
                    Purchases.period(purchase(3), "extra", from: -3, to: 27, account: nil),
                    Purchases.forever(purchase(4), at: -9, account: token(4)),
                    Purchases.signedOnce(purchase(5), "coins", .consumable, at: -1, account: token(5)),
                ], pipeline, database)
            // What has ended is known by its history alone, and what is used up is not held.
            let noted = try await Self.noted(database)
            #expect(
                noted.contains("Production forever forever") && noted.contains { $0.hasPrefix("Production extra 2") })
            #expect(!noted.contains { $0.contains("coins") })
            let (unsold, store) = (UnsoldProducts(database.pool), database.store)
            // Before the first catalog nothing is lacking.
            #expect(try await unsold.samples().isEmpty)
            _ = try await store.apply(Shop.catalog([nil, "pro", "pro"]), by: "test")
            #expect(try await unsold.first(10).products.map(\.productID) == ["basic", "extra"])
            let samples = try await unsold.samples()
            #expect(samples.map(\.name) == ["storehook_unsold_products"] && samples.map(\.value) == [2])
            let next = try Catalog(yaml: Shop.catalog())
            #expect(try await store.unsold(under: next).map(\.productID) == ["extra"])
            _ = try await store.apply(Shop.catalog(), by: "test")
            #expect(try await unsold.first(10).products.map(\.productID) == ["extra"])
            // Another app's product of the same id is not sold by this catalog.
            try await database.pool.query(
                "update storehook.purchased_products set held_until = now() where product_id = 'extra'")
            #expect(try await unsold.samples().isEmpty)
            try await database.pool.query(
                """
                insert into storehook.purchased_products (environment, bundle_id, product_id, held_until)
                values ('Production', 'com.example.elsewhere', 'basic', 'infinity')
                """)
            #expect(try await unsold.first(10).products.map(\.bundleID) == ["com.example.elsewhere"])
        }
    }

    @Test func `A product that is known costs no write, and one that was rolled back is written again`() async throws {
        try await AccountDatabase.with { database in
            let pipeline = Self.pipeline(database)
            func versions() async throws -> [Int64] {
                try await database.pool.query(
                    "select xmin::text::bigint from storehook.purchased_products order by product_id"
                ).map { try $0.decode(0) }
            }
            struct Broken: Error {}
            await #expect(throws: Broken.self) {
                try await database.pool.withTransaction { session in
                    _ = try pipeline.apply(
                        [Purchases.period(purchase(1), "basic", from: -3, to: 27, account: nil)], session)
                    throw Broken()
                }
            }
            #expect(try await versions().isEmpty)
            try await Self.apply(
                [Purchases.period(purchase(1), "basic", from: -3, to: 27, account: nil)], pipeline, database)
            let first = try await versions()
            #expect(first.count == 1)
            // Found, and remembered from then on; and nothing that ends earlier is written.
            for number in 2...5 {
                try await Self.apply(
                    [Purchases.period(purchase(number), "basic", from: -3, to: 26, account: nil)], pipeline, database)
                #expect(try await versions() == first)
            }
            // Nor by another process that knows nothing.
            try await Self.apply(
                [Purchases.period(purchase(6), "basic", from: -3, to: 27, account: nil)], Self.pipeline(database),
                database)
            #expect(try await versions() == first)
            try await Self.apply(
                [Purchases.period(purchase(7), "basic", from: -3, to: 40, account: nil)], pipeline, database)
            #expect(try await versions() != first)
        }
    }

    @Test func `Many workers note the same products at once, and none waits for another's purchases`() async throws {
        try await AccountDatabase.with { database in
            try await withThrowingTaskGroup { group in
                for worker in 0..<6 {
                    let pipeline = Self.pipeline(database)
                    group.addTask {
                        for round in 0..<5 {
                            let entries = (0..<4).map { place in
                                Purchases.period(
                                    purchase(worker * 100 + round * 10 + place), "p\((place + worker) % 4)", from: -1,
                                    to: Int64(20 + round), account: nil)
                            }
                            try await Self.apply(entries, pipeline, database)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let noted = try await Self.noted(database)
            #expect(noted.count == 4 && noted.allSatisfy { $0.hasSuffix(" 24") || $0.hasSuffix(" 25") }, "\(noted)")
        }
    }

    @Test func `The gauge and the doctor read products and one catalog, and no purchase`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            let plan = try await database.pool.query(
                "explain (costs off) select bundle_id, environment, count(*) from storehook.unsold_products group by 1, 2"
            ).map { try $0.decode(0, as: String.self) }
            let read = Set(plan.compactMap { $0.firstMatch(of: #/ on ([a-z_]+)/#).map { String($0.1) } })
            #expect(read == ["purchased_products", "catalog_state", "catalogs"], "\(plan)")
        }
    }

    @Test func `A catalog that an earlier release applied gets its products written beside it`() async throws {
        try await AccountDatabase.with { database in
            _ = try await database.store.apply(Shop.catalog(), by: "test")
            try await database.pool.query("update storehook.catalogs set product_keys = null")
            let unsold = UnsoldProducts(database.pool)
            #expect(try await !unsold.first(1).isListed)
            #expect(try await database.store.listProducts())
            #expect(try await unsold.first(1).isListed)
            #expect(
                try await database.value("select product_keys from storehook.catalogs", as: [String].self)
                    == Shop.products.map { "\(Shop.app) \($0)" })
            #expect(try await !database.store.listProducts())
        }
    }

    @Test func `A catalog that says the same is known by its number, unless another one is under way`() async throws {
        try await AccountDatabase.with { database in
            let catalog = try Catalog(yaml: Shop.catalog())
            #expect(try await database.store.standing(as: catalog) == nil)
            let version = try await database.store.apply(Shop.catalog(), by: "test").version
            #expect(try await database.store.standing(as: catalog) == version)
            #expect(try await database.store.standing(as: Catalog(yaml: "# other words\n" + Shop.catalog())) == version)
            #expect(try await database.store.standing(as: Catalog(yaml: Shop.catalog(trialDays: 8))) == nil)
            try await database.pool.query("update storehook.catalog_state set preparing_version = current_version")
            #expect(try await database.store.standing(as: catalog) == nil)
        }
    }

    private static let before = TestTemplate.migrated(by: Schema.migrations.filter { $0.version < 58 })

    @Test
    func
        `What is listed of stored purchases is what workers list, and a rebuild lists what an earlier release did not`()
        async throws
    {
        try await AccountDatabase.with { database in
            try await Self.apply(
                [
                    Purchases.period(purchase(1), "basic", from: -3, to: 27, account: token(1)),
                    // It was another product before; no account holds that one by it.
                    Purchases.period(purchase(2), "old", from: -60, to: -30, account: token(2)),
                    Purchases.period(purchase(2), "pro", from: -30, to: 300, account: token(2)),
                    Purchases.forever(purchase(4), at: -9, account: token(4)),
                    Purchases.signedOnce(purchase(5), "coins", .consumable, at: -1, account: token(5)),
                ], Self.pipeline(database), database)
            let listed = try await Self.noted(database)
            #expect(listed.contains("Production forever forever"), "\(listed)")
            #expect(
                listed.contains { $0.hasPrefix("Production pro 3") }
                    && !listed.contains { $0.hasPrefix("Production old 3") })
            try await database.pool.query("delete from storehook.purchased_products")
            try await database.pool.withTransaction { try PurchasedProducts.listAll($0) }
            #expect(try await Self.noted(database) == listed)
            // A later listing takes back nothing that is known.
            try await database.pool.query("update storehook.purchased_products set held_until = 'infinity'")
            try await database.pool.withTransaction { try PurchasedProducts.listAll($0) }
            #expect(try await Self.noted(database).allSatisfy { $0.hasSuffix(" forever") })
        }
    }

    @Test func `An upgrade lists what every purchase of before names`() async throws {
        try await withTestDatabase(from: Self.before) { database in
            let pool = PostgresPool(configuration: database.configuration, size: 2, logger: quiet)
            do {
                try await pool.withTransaction { session in
                    try session.executeScript(
                        SimulatedState(subscriptions: 900, oneTimePurchases: 300).script, deadline: .seconds(60))
                }
                _ = try await Migrator(migrations: Schema.migrations).migrate(on: pool)
                let differing: Int64 = try await pool.query(
                    """
                    with held as (
                        select environment, bundle_id, h.product_id
                          from storehook.subscriptions
                         cross join lateral unnest(phase_product, phase_status) as h (product_id, status)
                         where h.status not in ('expired', 'revoked', 'billing_retry')
                        union
                        select environment, bundle_id, product_id from storehook.one_time_purchases where kind <> 'consumable')
                    select count(*) from held full join storehook.purchased_products p using (environment, bundle_id, product_id)
                     where (held.product_id is null or p.product_id is null)
                       and coalesce(held.product_id, p.product_id) is not null
                    """
                ).one().decode(0)
                #expect(differing == 0)
                #expect(try await pool.query("select count(*) > 5 from storehook.purchased_products").one().decode(0))
                await pool.close()
            } catch {
                await pool.close()
                throw error
            }
        }
    }
}
