import AccountStore
import Accounts
import AppStorePayloads
import Base
import Pipeline
import Postgres
import PurchaseStore
import Schema
import Subscriptions
import TestSupport

/// A migrated database of the test's own, with a store and a ledger on it as a worker has them.
struct AccountDatabase: Sendable {
    private static let template = TestTemplate.migrated(by: Schema.migrations)

    let database: TestDatabase
    let pool: PostgresPool
    let store: AccountStore
    var ledger = Ledger()
    /// For what changes accounts without evidence.
    var pipeline: EvidencePipeline { EvidencePipeline(ledger: ledger, accounts: store, events: nil) }

    static func with<T>(_ body: (AccountDatabase) async throws -> T) async throws -> T {
        try await withTestDatabase(from: template) { database in
            let pool = PostgresPool(configuration: database.configuration, size: 8, logger: quiet)
            do {
                let value = try await body(AccountDatabase(database: database, pool: pool, store: AccountStore(pool)))
                await pool.close()
                return value
            } catch {
                await pool.close()
                throw error
            }
        }
    }

    /// Applies a batch as a worker does.
    func apply(_ entries: [LedgerEntry]) async throws {
        let pipeline = pipeline
        while true {
            do {
                _ = try await pool.withTransaction { try pipeline.apply(entries, $0).settled.changed }
                return
            } catch let error as PostgresError where error.isTransient {
                continue
            }
        }
    }

    /// What everybody reads, but for numbers that say when it was written.
    func rows() async throws -> [String] {
        try await pool.query(
            """
            select (to_jsonb(s) - 'version' - 'changed_at' - 'catalog' - 'phase_act')::text
              from storehook.account_status s join storehook.catalog_state c on c.current_version = s.catalog
             where s.phase_status <> array['free']
             order by 1
            """
        ).map { try $0.decode(0) }
    }

    func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// Whether a session waits for transactions that were open when a catalog was to be applied.
    func isWaitingForWriters() async throws -> Bool {
        try await value(
            """
            select count(*) > 0 from pg_stat_activity
             where datname = current_database() and query like 'select distinct virtualtransaction, pid from pg_locks%'
            """)
    }

    /// What differs from what is derived anew.
    func stale() async throws -> [RowDifference] {
        var (differences, last) = ([RowDifference](), UniqueIdentifier?.none)
        while true {
            let after = last
            let page = try await pool.withTransaction { try store.rederive(after: after, repair: false, $0) }
            guard let page, let end = page.accounts.last else { return differences }
            differences += page.differences
            last = end
        }
    }
}

/// Catalogs in YAML, of the products below.
enum Shop {
    static let app = "com.example.app"
    static let products = ["basic", "plus", "forever"]

    /// - Parameter tiers: what each of the products gives, in their order; nil for one that is not sold.
    static func catalog(_ tiers: [String?] = ["pro", "premium", "pro"], trialDays: Int = 7) -> String {
        var lines = ["app: \(app)", "tiers:", "  - id: free", "  - id: pro", "  - id: premium", "products:"]
        for (product, tier) in zip(products, tiers) {
            guard let tier else { continue }
            let period = product == "forever" ? "lifetime" : "month"
            lines.append("  - {id: \(product), product_id: \(product), tier: \(tier), period: \(period)}")
        }
        if lines.last == "products:" { lines[lines.count - 1] = "products: []" }
        return (lines + ["trial: {tier: premium, days: \(trialDays)}"]).joined(separator: "\n") + "\n"
    }
}

/// Ann, Bob and so on: what they buy with.
func token(_ number: Int) -> UniqueIdentifier { AccountToken.of(name(number)) }
func name(_ number: Int) -> String { "person-\(number)" }
func account(_ number: Int) -> AccountIdentity { AccountIdentity(named: name(number)) }

func purchase(_ number: Int) -> PurchaseKey {
    PurchaseKey(environment: "Production", bundleID: Shop.app, originalTransactionID: "\(10_000 + number)")
}
