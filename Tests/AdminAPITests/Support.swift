import APIKit
import AccountStore
import Accounts
import AdminAPI
import AppStorePayloads
import AsyncHTTPClient
import AuditStore
import Base
import EventStore
import Foundation
import HTTPKit
import Logging
import NIOCore
import NIOHTTP1
import Operations
import OrderStore
import Pipeline
import Postgres
import PurchaseStore
import Schema
import ServiceLifecycle
import Staff
import Subscriptions
import TestSupport
import Testing

/// A client that takes no for an answer.
let client: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
}()

/// What an admin API answered.
struct Answer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: String

    /// The body's members.
    var object: JSONObject? { try? JSONDocument(Array(body.utf8)).object }
    /// The problem's code.
    var code: String? { object?.string("code") }
}

/// Two apps of one catalog.
enum Desk {
    static let app = "com.example.app"
    static let other = "com.example.other"
    static let catalog = """
        app: com.example.app
        tiers:
          - id: free
          - id: pro
          - id: premium
        products:
          - {id: basic, product_id: basic, tier: pro, period: month}
          - {id: best, product_id: best, app: com.example.other, tier: premium, period: month}
        """

    static func name(_ number: Int) -> String { "person-\(number)" }
    static func token(_ number: Int) -> UniqueIdentifier { AccountToken.of(name(number)) }
    static func purchase(_ number: Int, of app: String = app) -> PurchaseKey {
        PurchaseKey(environment: "Production", bundleID: app, originalTransactionID: "\(10_000 + number)")
    }

    /// A month's subscription that is half over, signed for an account.
    static func entry(
        _ key: PurchaseKey, _ product: String, for account: UniqueIdentifier, number: Int, price: Int64? = nil,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) -> LedgerEntry {
        let now = Timestamp(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970) * 1000)
        let uuid = UniqueIdentifier(high: 0x5155, low: UInt64(number))
        let digest = withUnsafeBytes(of: Int64(number).bigEndian, Array.init) + [UInt8](repeating: 7, count: 24)
        var transaction = TransactionPayload(
            transactionId: "\(key.originalTransactionID).0", originalTransactionId: key.originalTransactionID,
            bundleId: key.bundleID, signedDate: now.adding(days: -15), productId: product,
            subscriptionGroupIdentifier: "group", purchaseDate: now.adding(days: -15),
            expiresDate: now.adding(days: 15), quantity: 1, type: .autoRenewableSubscription,
            inAppOwnershipType: .purchased, appAccountToken: account, transactionReason: .purchase,
            json: Array("{}".utf8))
        if price != nil { (transaction.price, transaction.currency, transaction.storefront) = (price, "EUR", "DEU") }
        change(&transaction)
        return LedgerEntry(
            outboxID: Int64(number), receivedAt: PostgresTimestamp(millisecondsSince1970: 0),
            environment: key.environment, bundleID: key.bundleID,
            notification: NotificationPayload(
                notificationType: .subscribed, notificationUUID: uuid.description, uuid: uuid,
                signedDate: transaction.signedDate, part: .data(NotificationData(status: nil))),
            transaction: .init(transaction, digest: digest), renewal: nil)
    }
}

/// A running admin API and the database behind it.
struct RunningDesk: Sendable {
    let port: Int
    /// A way to the database beside the API's own.
    let observer: PostgresPool
    let tokens: StaffTokenTable
    let feed: OverviewFeed
    let judge: AnswerJudge

    var staff: StaffMembers { StaffMembers(observer) }
    var audit: AuditLog { AuditLog(observer) }

    /// A member of the staff with a token that the API knows of already.
    func member(
        _ role: StaffRole, of apps: [String]? = nil, mail: String? = nil
    ) async throws -> (member: StaffMember, token: String) {
        let mail = mail ?? "\(role.rawValue).\(apps?.count ?? 0)@example.com"
        let (member, _) = try await staff.add(mail, as: role, of: apps, by: "cli:test")
        let secret = StaffSecret()
        _ = try await staff.addToken(secret, for: mail, days: 30, by: "cli:test")
        try await tokens.read()
        return (member, secret.text)
    }

    /// Asks; every answer is held against the description.
    func send(
        _ method: String, _ path: String, _ token: String? = nil, _ body: String? = nil,
        headers: [(String, String)] = []
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = HTTPMethod(rawValue: method)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await client.execute(request, timeout: .seconds(120))
        let answer = Answer(
            status: Int(response.status.code), headers: response.headers,
            body: String(buffer: try await response.body.collect(upTo: 16 << 20)))
        judge.judge(method, path, answer)
        return answer
    }

    func get(_ path: String, _ token: String? = nil) async throws -> Answer { try await send("GET", path, token) }

    func post(_ path: String, _ token: String?, _ body: String) async throws -> Answer {
        try await send("POST", path, token, body)
    }

    /// The rows of the audit behind a place, without those of tries: these come when a minute is over.
    func rows(after place: Int64) async throws -> [AuditRow] {
        try await audit.rows(after: place, through: .max).filter { $0.act != "forbidden" }
    }

    /// The last place of the audit.
    func place() async throws -> Int64 { try await audit.tail().place }

    /// Applies purchases as a worker does.
    func buy(_ entries: [LedgerEntry]) async throws {
        let pipeline = EvidencePipeline(observer)
        _ = try await observer.withTransaction { try pipeline.apply(entries, $0).settled.changed }
    }

    /// A month that is half over, bought for this price; its order's number.
    func order(
        _ number: Int, of app: String = Desk.app, price: Int64? = 9_990,
        _ change: (inout TransactionPayload) -> Void = { _ in }
    ) async throws -> String {
        let key = Desk.purchase(number, of: app)
        try await buy([
            Desk.entry(
                key, app == Desk.app ? "basic" : "best", for: Desk.token(number), number: number, price: price, change)
        ])
        return try await self.number(of: key)
    }

    /// Deals numbers as a worker does.
    func number(of key: PurchaseKey) async throws -> String {
        while try await OrderStore(observer).deal(AccountStore(observer)) > 0 {}
        return try await observer.query(
            """
            select coalesce(storehook.order_number(day, number), '-') from storehook.booked_orders
             where order_key = \(key.originalTransactionID) and bundle_id = \(key.bundleID)
            """
        ).one().decode(0)
    }

    /// As if so many minutes had passed since what staff tried was counted.
    func pass(minutes: Int) async throws {
        try await observer.query(
            "update storehook.forbidden_tries set minute = minute - make_interval(mins => \(Int32(minutes)))")
    }
}

/// Runs an admin API with a catalog of two apps. `person-1` subscribes to the first app, and `person-2` to the second. Ends it gracefully after
/// `body`, also where that throws.
/// - Parameters:
///   - adjust: changes how it listens.
///   - secrets: whether endpoints get new secrets from it.
///   - overviews: the bounds of overviews that go on.
func withDesk<T: Sendable>(
    adjusting adjust: (inout APIConfiguration) -> Void = { _ in }, apps: Set<String> = [],
    rules: StaffRules = StaffRules(), secrets: EndpointSecrets = .noKey,
    overviews: OverviewFeed.Bounds = OverviewFeed.Bounds(), isolation: isolated (any Actor)? = #isolation,
    _ body: (RunningDesk) async throws -> T
) async throws -> T {
    try await withMigratedDatabase(Schema.migrations, then: "select storehook.ensure_outbox_partitions()") { database in
        let observer = PostgresPool(configuration: database.configuration, size: 4, logger: quiet)
        let pool = PostgresPool(configuration: database.configuration, size: 4, logger: quiet)
        let watchPool = PostgresPool(
            configuration: DatabaseWatch.configuration(like: database.configuration), size: 1, logger: quiet)
        var configuration = APIConfiguration.admin(host: "127.0.0.1", port: 0)
        configuration.callerRate = .init(perMinute: 1_000_000, burst: 1_000_000)
        configuration.addressRate = .init(perMinute: 1_000_000, burst: 1_000_000)
        adjust(&configuration)
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let watch = DatabaseWatch(watchPool, logger: quiet)
        let checks = DatabaseChecks(
            pool: observer, migrator: try Migrator(migrations: Schema.migrations, oldestFitting: Schema.oldestFitting),
            configuration: database.configuration, storeDeadline: .seconds(4), role: .console, namesAccounts: false)
        let handlers = AdminHandlers(
            pool, EvidencePipeline(pool), accountIDs: .auto, apps: apps, rules: rules, secrets: secrets,
            checks: checks, overviews: overviews, logger: quiet)
        let endpoints = AdminEndpoint.withStanding(handlers.endpoints)
        let staff = StaffMembers(pool)
        let tokens = StaffTokenTable(staff, logger: quiet)
        let api = AdminAPI(
            endpoints, staff, tokens, ForbiddenTries(pool), feed: handlers.feed, watch: watch,
            configuration: configuration, metrics: APIMetrics(endpoints: endpoints), logger: quiet
        ) { listening.yield($0) }
        let services = ServiceGroup(services: [pool, watchPool, api], logger: quiet)
        let running = Task { try await services.run() }
        var iterator = ports.makeAsyncIterator()
        guard let port = await iterator.next() else { throw NeverHappened("the admin API listens") }
        let result: Result<T, any Error>
        do {
            let desk = RunningDesk(
                port: port, observer: observer, tokens: tokens, feed: handlers.feed,
                judge: try await AnswerJudge(port: port))
            _ = try await AccountStore(observer).apply(Desk.catalog, by: "cli:test")
            try await desk.buy([
                Desk.entry(Desk.purchase(1), "basic", for: Desk.token(1), number: 1),
                Desk.entry(Desk.purchase(2, of: Desk.other), "best", for: Desk.token(2), number: 2),
            ])
            result = .success(try await body(desk))
        } catch {
            result = .failure(error)
        }
        await services.triggerGracefulShutdown()
        try await running.value
        await observer.close()
        return try result.get()
    }
}

extension RunningDesk {
    /// The database's clock.
    func now() async throws -> PostgresTimestamp {
        try await observer.query("select clock_timestamp()").one().decode(0)
    }
}
