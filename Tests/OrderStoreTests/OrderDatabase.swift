import AccountStore
import Accounts
import AppStorePayloads
import Base
import Crypto
import Foundation
import OrderStore
import Pipeline
import Postgres
import PurchaseStore
import Schema
import Subscriptions
import Synchronization
import TestSupport

/// A migrated database of the test's own, and what books and numbers orders in it as a worker has them.
struct OrderDatabase: Sendable {
    private static let template = TestTemplate.migrated(by: Schema.migrations)

    let database: TestDatabase
    let pool: PostgresPool
    let orders: OrderStore
    let accounts: AccountStore
    let ledger = Ledger()

    static func with<T>(catalog: String? = nil, _ body: (OrderDatabase) async throws -> T) async throws -> T {
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
    func apply(_ entries: [LedgerEntry], isBooked: Bool = true) async throws {
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
    func differences(repair: Bool = false) async throws -> [RowDifference] {
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
    func number() async throws { while try await orders.deal(accounts) > 0 {} }

    /// Whether each day's numbers are 1 to n.
    func hasGaps() async throws -> Bool {
        try await value(
            """
            select exists (select from storehook.booked_orders where number is null and class_id is not null)
                or exists (select from storehook.booked_orders group by day
                            having count(number) <> max(number) or count(distinct number) <> count(number))
                or exists (select from storehook.order_days d
                            where d.last <> (select max(number) from storehook.booked_orders o where o.day = d.day))
            """)
    }

    func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    func texts(_ query: PostgresQuery) async throws -> [String] {
        try await pool.query(query).map { try $0.decode(0, as: String?.self) ?? "-" }
    }
}

/// What is sold in these tests.
enum Shop {
    static let app = "com.example.app"

    /// - Parameters:
    ///   - zone: where the days begin.
    ///   - premium: the tier of the product `premium`.
    static func catalog(zone: String = "UTC", premium: String = "max") -> String {
        """
        app: com.example.app
        time_zone: \(zone)
        tiers:
          - id: free
          - id: pro
          - id: max
        products:
          - {id: basic, product_id: basic, tier: pro, period: month}
          - {id: yearly, product_id: yearly, tier: pro, period: year}
          - {id: premium, product_id: premium, tier: \(premium), period: month}
        """
    }

    /// Midnight, UTC, of a day counted from 2026-01-01.
    static func day(_ day: Int64, hours: Int64 = 0) -> Timestamp {
        Timestamp(millisecondsSince1970: 1_767_225_600_000).adding(days: day).adding(seconds: hours * 3600)
    }

    private static let made = Atomic<UInt64>(0)

    /// A notification about a transaction.
    /// - Parameters:
    ///   - original: the purchase.
    ///   - id: the transaction; that of the purchase by default.
    ///   - signed: when both were signed; at its beginning by default.
    static func entry(
        _ original: String, _ id: String? = nil, at start: Timestamp, days: Int64? = 30, product: String = "basic",
        kind: ProductType = .autoRenewableSubscription, renewal: Bool = false, price: Int64? = 9_990,
        first: Timestamp? = nil, signed: Timestamp? = nil, _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        let number = made.add(1, ordering: .relaxed).newValue
        let signed = signed ?? start
        let id = id ?? original
        var payload = TransactionPayload(
            transactionId: id, originalTransactionId: original, bundleId: app, signedDate: signed,
            webOrderLineItemId: days == nil ? nil : id, productId: product,
            subscriptionGroupIdentifier: days == nil ? nil : "group", purchaseDate: start,
            originalPurchaseDate: first ?? start, expiresDate: days.map { start.adding(days: $0) }, quantity: 1,
            type: kind, inAppOwnershipType: .purchased, transactionReason: renewal ? .renewal : .purchase,
            json: Array("{}".utf8))
        (payload.price, payload.currency, payload.storefront) = (price, "USD", "USA")
        change(&payload)
        payload.json = Array("{\"number\":\(number)}".utf8)
        let uuid = UniqueIdentifier(high: 1, low: number)
        return LedgerEntry(
            outboxID: Int64(number),
            receivedAt: PostgresTimestamp(millisecondsSince1970: signed.millisecondsSince1970 + 1_000),
            environment: "Production", bundleID: app,
            notification: NotificationPayload(
                notificationType: renewal ? .didRenew : .subscribed, notificationUUID: uuid.description, uuid: uuid,
                signedDate: signed, part: .data(NotificationData(status: nil))),
            transaction: .init(payload, digest: Array(SHA256.hash(data: payload.json))), renewal: nil)
    }

    /// A consumable.
    static func coins(_ id: String, at start: Timestamp) -> LedgerEntry {
        entry(id, at: start, days: nil, product: "coins", kind: .consumable)
    }
}

extension Array {
    /// The elements in consecutive batches of `size`.
    func batches(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
