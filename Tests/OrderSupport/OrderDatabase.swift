package import AccountStore
package import OrderStore
import Pipeline
package import Postgres
package import PurchaseStore
import Schema
import Subscriptions
package import TestSupport

/// A migrated database of the test's own, and what books and numbers orders in it as a worker has them.
package struct OrderDatabase: Sendable {
    private static let template = TestTemplate.migrated(by: Schema.migrations)

    /// The database.
    package let database: TestDatabase
    /// Connections to it.
    package let pool: PostgresPool
    /// Its orders.
    package let orders: OrderStore
    /// Its accounts.
    package let accounts: AccountStore
    /// What applies evidence.
    package let ledger = Ledger()

    /// Runs `body` with one.
    package static func with<T>(catalog: String? = nil, _ body: (OrderDatabase) async throws -> T) async throws -> T {
        try await withTestDatabase(from: template) { database in
            let pool = PostgresPool(configuration: database.configuration, size: 16, logger: quiet)
            do {
                let site = OrderDatabase(
                    database: database, pool: pool, orders: OrderStore(pool), accounts: AccountStore(pool))
                if let catalog { _ = try await site.accounts.apply(catalog, by: "test") }
                let value = try await body(site)
                await pool.close()
                return value
            } catch {
                await pool.close()
                throw error
            }
        }
    }

    /// Applies a batch as a worker does. A deadlock is an error; what else passes by itself is tried again.
    /// - Parameter isBooked: false leaves the books as a release before orders does.
    package func apply(_ entries: [LedgerEntry], isBooked: Bool = true) async throws {
        let pipeline = EvidencePipeline(pool, ledger: ledger, isObserved: isBooked)
        while true {
            do {
                _ = try await pool.withTransaction { try pipeline.apply(entries, $0).settled.changed }
                return
            } catch let error as PostgresError where error.isTransient && error.sqlState != .deadlockDetected {
                continue
            }
        }
    }

    /// What differs from what is derived anew.
    package func differences(repair: Bool = false) async throws -> [RowDifference] {
        var (differences, last) = ([RowDifference](), PurchaseKey?.none)
        while true {
            let after = last
            let page = try await pool.withTransaction { session in
                let keys = try ledger.purchases(after: after, limit: 100, session)
                if repair { try Ledger.hold(keys, session) }
                return (keys, try orders.rebook(keys, repair: repair, ledger, accounts, session))
            }
            guard let end = page.0.last else { return differences }
            differences += page.1
            last = end
        }
    }

    /// Deals all numbers.
    package func number() async throws { while try await orders.deal(accounts) > 0 {} }

    /// Whether each day's numbers are 1 to n.
    package func hasGaps() async throws -> Bool {
        try await value(
            """
            select exists (select from storehook.booked_orders where number is null and class_id is not null)
                or exists (select from storehook.booked_orders group by day
                            having count(number) <> max(number) or count(distinct number) <> count(number))
                or exists (select from storehook.order_days d
                            where d.last <> (select max(number) from storehook.booked_orders o where o.day = d.day))
            """)
    }

    /// A query's one value.
    package func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// A query's only column, `-` for null.
    package func texts(_ query: PostgresQuery) async throws -> [String] {
        try await pool.query(query).map { try $0.decode(0, as: String?.self) ?? "-" }
    }
}
