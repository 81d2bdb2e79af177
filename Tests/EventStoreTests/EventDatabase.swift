import AccountStore
import Accounts
import AppStorePayloads
import Base
import EventStore
import Events
import Foundation
import Logging
import Pipeline
import Postgres
import PurchaseStore
import Schema
import Subscriptions
import Synchronization
import TestSupport

/// Nothing that a test provokes on purpose is worth a line.
let quiet: Logger = {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return logger
}()

/// A migrated database of the test's own, with the stores on it as a worker has them.
struct EventDatabase: Sendable {
    private static let template = TestTemplate.migrated(by: Schema.migrations)

    let database: TestDatabase
    let pool: PostgresPool
    let accounts: AccountStore
    let events: EventStore
    let ledger: Ledger
    /// For what changes accounts without evidence.
    var pipeline: EvidencePipeline { EvidencePipeline(ledger: ledger, accounts: accounts, events: events) }

    static func with<T>(
        catalog: Bool = true, leewaySeconds: Int64 = 600, _ body: (EventDatabase) async throws -> T
    ) async throws -> T {
        try await withTestDatabase(from: template) { database in
            let pool = PostgresPool(configuration: database.configuration, size: 12, logger: quiet)
            do {
                let site = EventDatabase(
                    database: database, pool: pool,
                    accounts: AccountStore(pool), events: EventStore(pool),
                    ledger: Ledger(policy: StatusPolicy(renewalLeewaySeconds: leewaySeconds)))
                if catalog {
                    _ = try await site.accounts.apply(
                        """
                        app: com.example.app
                        tiers:
                          - id: free
                          - id: pro
                        products:
                          - {id: basic, product_id: basic, tier: pro, period: month}
                        trial: {tier: pro, days: 7, products: [basic]}
                        """, by: "test")
                }
                let value = try await body(site)
                await pool.close()
                return value
            } catch {
                await pool.close()
                throw error
            }
        }
    }

    /// Applies a batch as a worker does, and tells of it.
    /// - Parameter now: the instant by which it is told; the database's by default.
    @discardableResult
    func apply(_ entries: [LedgerEntry], at now: Timestamp? = nil) async throws -> Int {
        let (ledger, accounts, events) = (ledger, accounts, events)
        while true {
            do {
                return try await pool.withTransaction { session in
                    let news = try ledger.apply(entries, session).changes
                    var settled = try accounts.settle(news.map(\.key), having: news, session)
                    if let now { settled.clock = PostgresTimestamp(millisecondsSince1970: now.millisecondsSince1970) }
                    return try events.record(news, settled, session).count
                }
            } catch let error as PostgresError where error.isTransient {
                continue
            }
        }
    }

    /// Runs the clock until nothing is due; answers how many events it wrote.
    func runClock() async throws -> Int {
        var told = 0
        while true {
            let ticked = try await tick()
            guard ticked.taken > 0 else { return told }
            told += ticked.events.count
        }
    }

    /// What the clock tells now; up to an instant of a test's own, if that is told.
    func tick(upTo instant: PostgresTimestamp? = nil) async throws -> EventStore.ClockResult {
        let now: PostgresTimestamp = try await value("select clock_timestamp()")
        let purchases = try await events.tick(.purchases, accounts, upTo: instant ?? now)
        return purchases + (try await events.tick(.accounts, accounts, upTo: instant ?? now))
    }

    /// All that was told of an account, or of a purchase without one, in order: the number and the kind.
    func told(_ condition: PostgresQuery) async throws -> [String] {
        try await pool.query(
            "select sequence || ' ' || kind from storehook.events where \(embedding: condition) order by sequence"
        ).map { try $0.decode(0) }
    }

    func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// Every event that has a place, page by page.
    func feed() async throws -> [PlacedEvent] {
        while try await events.place() > 0 {}
        var all: [PlacedEvent] = []
        while true {
            let page = try await events.events(after: all.last?.position ?? 0, limit: 7)
            if page.isEmpty { return all }
            all += page
        }
    }
}

func token(_ number: Int) -> UniqueIdentifier { AccountToken.of("person-\(number)") }

func purchase(_ number: Int) -> PurchaseKey {
    PurchaseKey(
        environment: "Production", bundleID: "com.example.app", originalTransactionID: "\(10_000 + number)")
}

/// Apple's records, as the ledger is handed them.
enum Records {
    private static let made = Atomic<Int64>(0)
    static let now = Timestamp(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970) * 1000)

    /// One period of a subscription, so many days from now it begins and ends; told ten seconds after it began.
    static func period(
        _ key: PurchaseKey, from start: Int64, to end: Int64, account: UniqueIdentifier?, number: Int = 0,
        renews: Bool = true, revoked: Int64? = nil, type: NotificationType = .didRenew,
        from source: EvidenceSource = .webhook
    ) -> LedgerEntry {
        span(
            key, now.adding(days: start)..<now.adding(days: end), account: account, number: number, renews: renews,
            revoked: revoked.map { now.adding(days: $0) }, type: type, from: source)
    }

    /// The same between two instants.
    /// - Parameters:
    ///   - told: when Apple signed it; ten seconds after it began by default.
    ///   - grace: until when access goes on after a failed charge.
    static func span(
        _ key: PurchaseKey, _ period: Range<Timestamp>, account: UniqueIdentifier?, number: Int = 0,
        renews: Bool = true, revoked: Timestamp? = nil, type: NotificationType = .didRenew,
        from source: EvidenceSource = .webhook, at told: Timestamp? = nil, isTrial: Bool = false,
        grace: Timestamp? = nil
    ) -> LedgerEntry {
        let made = made.add(1, ordering: .relaxed).newValue
        let signedAt = told ?? (revoked ?? period.lowerBound).adding(seconds: 10)
        func digest(_ last: UInt8) -> [UInt8] {
            withUnsafeBytes(of: made.bigEndian, Array.init) + [UInt8](repeating: last, count: 24)
        }
        let uuid = UniqueIdentifier(high: 0x5155, low: UInt64(made))
        return LedgerEntry(
            outboxID: made, receivedAt: PostgresTimestamp(millisecondsSince1970: 0), environment: key.environment,
            bundleID: key.bundleID,
            notification: NotificationPayload(
                notificationType: type, notificationUUID: uuid.description, uuid: uuid, signedDate: signedAt,
                part: .data(NotificationData())),
            transaction: .init(
                TransactionPayload(
                    transactionId: "\(key.originalTransactionID).\(number)",
                    originalTransactionId: key.originalTransactionID, bundleId: key.bundleID, signedDate: signedAt,
                    productId: "basic", subscriptionGroupIdentifier: "group", purchaseDate: period.lowerBound,
                    expiresDate: period.upperBound, quantity: 1, type: .autoRenewableSubscription,
                    inAppOwnershipType: .purchased, appAccountToken: account,
                    revocationDate: revoked, offerType: isTrial ? .introductory : nil,
                    offerDiscountType: isTrial ? .freeTrial : nil,
                    transactionReason: number == 0 ? .purchase : .renewal, storefront: "DEU",
                    price: isTrial ? 0 : price(number), currency: "EUR", json: Array("{}".utf8)),
                digest: digest(7)),
            renewal: .init(
                RenewalInfoPayload(
                    originalTransactionId: key.originalTransactionID, signedDate: signedAt, productId: "basic",
                    autoRenewProductId: "basic", autoRenewStatus: renews ? .on : .off,
                    renewalDate: period.upperBound, isInBillingRetryPeriod: grace.map { _ in true },
                    gracePeriodExpiresDate: grace, json: Array("{}".utf8)),
                digest: digest(8)), source: source)
    }

    /// What a period costs, by its number.
    static func price(_ number: Int) -> Int64 { 1000 * Int64(number + 1) }

    /// Something bought once and for good, ten seconds ago.
    static func bought(
        _ key: PurchaseKey, account: UniqueIdentifier?, from source: EvidenceSource = .webhook
    ) -> LedgerEntry {
        let entry = span(key, now.adding(seconds: -10)..<now, account: account, type: .oneTimeCharge, at: now)
        var transaction = entry.transaction
        transaction?.payload.type = .nonConsumable
        transaction?.payload.subscriptionGroupIdentifier = nil
        transaction?.payload.expiresDate = nil
        guard let notification = entry.notification else { return entry }
        return LedgerEntry(
            outboxID: entry.outboxID, receivedAt: entry.receivedAt, environment: key.environment,
            bundleID: key.bundleID, notification: notification, transaction: transaction, renewal: nil, source: source)
    }
}
