import APIKit
import AccountStore
import Accounts
import AdminAPI
import AppStorePayloads
import AsyncHTTPClient
import AuditStore
import Base
import ConsolePages
import EventStore
import FigureStore
import Foundation
import HTTPKit
import Logging
import NIOCore
import NIOHTTP1
import OrderStore
import Pipeline
import Postgres
import PurchaseStore
import Schema
import ServiceLifecycle
import Staff
import Subscriptions
import Synchronization
import TestSupport
import Testing

/// A client that follows nothing by itself.
let client: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 100
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
}()

/// Two apps of one catalog.
enum Shop {
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
        _ key: PurchaseKey, _ product: String, for account: UniqueIdentifier, number: Int, price: Int64,
        in currency: String = "EUR"
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
        (transaction.price, transaction.currency, transaction.storefront) = (price, currency, "DEU")
        return LedgerEntry(
            outboxID: Int64(number), receivedAt: PostgresTimestamp(millisecondsSince1970: 0),
            environment: key.environment, bundleID: key.bundleID,
            notification: NotificationPayload(
                notificationType: .subscribed, notificationUUID: uuid.description, uuid: uuid,
                signedDate: transaction.signedDate, part: .data(NotificationData(status: nil))),
            transaction: .init(transaction, digest: digest), renewal: nil)
    }
}

/// A running console and the database behind it.
struct RunningPages: Sendable {
    let port: Int
    /// A way to the database beside the console's own.
    let observer: PostgresPool
    let sessions: SessionTable
    let isSecure: Bool

    var staff: StaffMembers { StaffMembers(observer) }
    var audit: AuditLog { AuditLog(observer) }

    static let password = "correct horse battery"
    /// Costs next to nothing: these passwords protect no account.
    static let cost = PasswordHash.Cost(logRounds: 4, blockSize: 8, repetitions: 1)

    /// A member of the staff with a password.
    @discardableResult
    func member(_ role: StaffRole, of apps: [String]? = nil, mail: String? = nil) async throws -> StaffMember {
        let mail = mail ?? "\(role.rawValue).\(apps?.count ?? 0)@example.com"
        let (member, _) = try await staff.add(mail, as: role, of: apps, by: "cli:test")
        try await setPassword(Self.password, of: mail)
        return member
    }

    func setPassword(_ text: String, of mail: String) async throws {
        let hash = try PasswordHash(of: try StaffPassword(new: text, of: mail), cost: Self.cost)
        _ = try await StaffPasswords(observer).set(hash, for: mail, by: "cli:test")
    }

    /// A browser of a new member who is logged in.
    func browser(_ role: StaffRole, of apps: [String]? = nil, mail: String? = nil) async throws -> Browser {
        let member = try await member(role, of: apps, mail: mail)
        let browser = Browser(self)
        let answer = try await browser.logIn(member.mail)
        #expect(answer.status == 303, "\(answer.body)")
        return browser
    }

    /// The rows of the audit behind a place, but for those that count tries.
    func rows(after place: Int64) async throws -> [AuditRow] {
        try await audit.rows(after: place, through: .max).filter { $0.act != "forbidden" }
    }

    func place() async throws -> Int64 { try await audit.tail().place }

    /// A month that is half over, bought for this price; its order's number.
    @discardableResult
    func order(
        _ number: Int, of app: String = Shop.app, _ product: String? = nil, price: Int64 = 9_990,
        in currency: String = "EUR", account: UniqueIdentifier? = nil
    ) async throws -> String {
        let key = Shop.purchase(number, of: app)
        let entry = Shop.entry(
            key, product ?? (app == Shop.app ? "basic" : "best"), for: account ?? Shop.token(number), number: number,
            price: price, in: currency)
        let pipeline = EvidencePipeline(observer)
        _ = try await observer.withTransaction { try pipeline.apply([entry], $0).settled.changed }
        while try await OrderStore(observer).deal(AccountStore(observer)) > 0 {}
        return try await observer.query(
            """
            select coalesce(storehook.order_number(day, number), '-') from storehook.booked_orders
             where order_key = \(key.originalTransactionID) and bundle_id = \(key.bundleID)
            """
        ).one().decode(0)
    }

    /// Sums figures and counts accounts, as a worker does.
    func settle() async throws {
        while try await FigureStore(observer).sum(in: "UTC", atMost: 120) {}
        try await observer.query("update storehook.account_count_state set due_at = '-infinity'")
        _ = try await AccountStore(observer).count()
    }

    /// One of everything, done by an admin: an order of `person-1`, a request for its refund, a grant.
    func fill(by admin: Browser, reason: String = "her card was stolen") async throws -> (
        order: String, request: String
    ) {
        let order = try await order(1)
        _ = try await admin.get("/orders/\(order)")
        let asked = try await admin.post("/orders/\(order)/refund-requests", ["type": "full", "reason": reason])
        #expect(asked.status == 303, "\(asked.body)")
        let granted = try await admin.call(
            "/admin/subscriptions/\(Shop.name(1))/grant", #"{"tier": "premium", "days": 5, "reason": "an outage"}"#)
        #expect(granted.status == 200, "\(granted.body)")
        try await settle()
        return (order, try #require(asked.location))
    }
}

/// What was answered.
struct PageAnswer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: String

    var location: String? { headers.first(name: "Location") }
    var cookies: [String] { headers["Set-Cookie"] }
    /// What the forms of the page carry.
    var token: String? { value(of: "csrf") }

    /// The value of the first hidden field of a name.
    func value(of name: String) -> String? {
        guard let start = body.firstRange(of: "name=\"\(name)\" value=\"") else { return nil }
        return String(body[start.upperBound...].prefix { $0 != "\"" })
    }
}

/// A browser: it keeps cookies, and says where its requests come from.
final class Browser: Sendable {
    private let pages: RunningPages
    private let jar = Mutex<[String: String]>([:])
    private let lastToken = Mutex<String?>(nil)

    init(_ pages: RunningPages) { self.pages = pages }

    /// The cookies that it has, by name.
    var cookies: [String: String] {
        get { jar.withLock(\.self) }
        set { jar.withLock { $0 = newValue } }
    }

    /// What the forms of the last page carry.
    var token: String? { lastToken.withLock(\.self) }

    func get(_ path: String, _ headers: [(String, String)] = []) async throws -> PageAnswer {
        try await send("GET", path, nil, headers)
    }

    /// Sends a form as the last page would, with its token.
    func post(
        _ path: String, _ fields: [String: String] = [:], _ headers: [(String, String)] = []
    ) async throws -> PageAnswer {
        var fields = fields
        if fields["csrf"] == nil { fields["csrf"] = token }
        return try await send("POST", path, fields, headers)
    }

    /// Searches for a text; the page that this leads to.
    func find(_ text: String) async throws -> PageAnswer {
        let answer = try await post("/search", ["text": text])
        guard answer.status == 303, let location = answer.location else { return answer }
        return try await get(location)
    }

    /// Has the admin API do something, as a script of the page would.
    /// - Parameter headers: those of a script of ours by default.
    func call(_ path: String, _ json: String, _ headers: [(String, String)]? = nil) async throws -> PageAnswer {
        try await execute(
            "POST", path, (json, "application/json"), headers ?? [("X-CSRF-Token", token ?? "")])
    }

    /// - Parameter headers: in the place of what a browser would say by itself.
    func send(
        _ method: String, _ path: String, _ fields: [String: String]?, _ headers: [(String, String)] = []
    ) async throws -> PageAnswer {
        let body = fields.map { (Self.encoded($0), "application/x-www-form-urlencoded") }
        return try await execute(method, path, body, headers)
    }

    /// Sends a path as it is written here, by a connection of its own, and leaves that to `body`.
    func raw<T: Sendable>(
        _ path: String, _ headers: [(String, String)] = [], _ body: @escaping @Sendable (TCPSocket) throws -> T
    ) async throws -> T {
        let host = "127.0.0.1:\(pages.port)"
        let cookie = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        let all = [("Host", host), ("Cookie", cookie), ("Sec-Fetch-Site", "same-origin")] + headers
        let head = all.map { "\($0.0): \($0.1)\r\n" }.joined()
        return try await onThread { [port = pages.port] in
            let socket = try TCPSocket(port: port)
            try socket.send("GET \(path) HTTP/1.1\r\n\(head)\r\n")
            return try body(socket)
        }
    }

    private func execute(
        _ method: String, _ path: String, _ body: (text: String, type: String)?, _ headers: [(String, String)]
    ) async throws -> PageAnswer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(pages.port)\(path)")
        request.method = HTTPMethod(rawValue: method)
        if !headers.contains(where: { $0.0 == "Sec-Fetch-Site" }) {
            request.headers.add(name: "Sec-Fetch-Site", value: "same-origin")
        }
        let jar = cookies
        if !jar.isEmpty {
            request.headers.add(
                name: "Cookie",
                value: jar.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))
        }
        if let body {
            request.headers.add(name: "Content-Type", value: body.type)
            request.body = .bytes(ByteBuffer(string: body.text))
        }
        for (name, value) in headers where !value.isEmpty { request.headers.replaceOrAdd(name: name, value: value) }
        let response = try await client.execute(request, timeout: .seconds(180))
        let answer = PageAnswer(
            status: Int(response.status.code), headers: response.headers,
            body: String(buffer: try await response.body.collect(upTo: 16 << 20)))
        keep(answer)
        return answer
    }

    /// Opens the login and sends it.
    func logIn(
        _ mail: String, _ password: String = RunningPages.password, _ headers: [(String, String)] = []
    ) async throws -> PageAnswer {
        let page = try await get("/login", headers)
        #expect(page.status == 200, "\(page.status)")
        return try await post("/login", ["mail": mail, "password": password], headers)
    }

    private func keep(_ answer: PageAnswer) {
        jar.withLock { jar in
            for cookie in answer.cookies {
                let parts = cookie.split(separator: ";")[0].split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { continue }
                jar[String(parts[0])] = parts[1].isEmpty ? nil : String(parts[1])
            }
        }
        if let token = answer.token { lastToken.withLock { $0 = token } }
    }

    static func encoded(_ fields: [String: String]) -> String {
        var plain = CharacterSet.alphanumerics
        plain.insert(charactersIn: "-._~")
        return fields.sorted { $0.key < $1.key }.map { name, value in
            [name, value].map { $0.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }.joined(separator: "=")
        }.joined(separator: "&")
    }
}

/// Runs a console with a catalog of two apps, and ends it gracefully after `body`, whatever becomes of it.
/// - Parameters:
///   - way: by which way people come in.
///   - isSecure: whether it is told that browsers speak TLS.
///   - secrets: whether endpoints get new secrets from it; nil for a key.
///   - adjust: changes how it listens.
func withPages<T: Sendable>(
    way: Visitors.Way = .login, isSecure: Bool = false, secrets: EndpointSecrets? = nil,
    adjusting adjust: (inout APIConfiguration) -> Void = { _ in },
    pages change: (inout PageConfiguration) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation, _ body: (RunningPages) async throws -> T
) async throws -> T {
    try await withMigratedDatabase(Schema.migrations, then: "select storehook.ensure_outbox_partitions()") { database in
        let observer = PostgresPool(configuration: database.configuration, size: 4, logger: quiet)
        let pool = PostgresPool(configuration: database.configuration, size: 4, logger: quiet)
        let watchPool = PostgresPool(
            configuration: DatabaseWatch.configuration(like: database.configuration), size: 1, logger: quiet)
        var configuration = APIConfiguration.admin(host: "127.0.0.1", port: 0)
        configuration.callerRate = .init(perMinute: 1_000_000, burst: 1_000_000)
        configuration.addressRate = .init(perMinute: 1_000_000, burst: 1_000_000)
        // A proxy that speaks TLS is on this machine.
        if isSecure { configuration.http.trustedProxies = .loopback }
        adjust(&configuration)
        var pageConfiguration = PageConfiguration(configuration)
        pageConfiguration.loginsPerMinute = 1_000_000
        change(&pageConfiguration)
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let watch = DatabaseWatch(watchPool, logger: quiet)
        let handlers = AdminHandlers(
            pool, EvidencePipeline(pool), accountIDs: .auto, apps: [],
            secrets: secrets ?? EndpointSecrets(SecretKey(bytes: [UInt8](repeating: 7, count: SecretKey.size))),
            logger: quiet)
        let endpoints = AdminEndpoint.withStanding(handlers.endpoints)
        let staff = StaffMembers(pool)
        let visitors = Visitors(way, isSecure: isSecure, pool, logger: quiet)
        let site = try PageSite(
            endpoints, visitors, pool, watch: watch, configuration: pageConfiguration, logger: quiet)
        let api = AdminAPI(
            endpoints, staff, StaffTokenTable(staff, logger: quiet), ForbiddenTries(pool), feed: handlers.feed,
            watch: watch, sessions: visitors, beside: site.routes, configuration: configuration,
            metrics: APIMetrics(endpoints: endpoints), logger: quiet
        ) { listening.yield($0) }
        let services = ServiceGroup(services: [pool, watchPool, api], logger: quiet)
        let running = Task { try await services.run() }
        var iterator = ports.makeAsyncIterator()
        guard let port = await iterator.next() else { throw NeverHappened("the console listens") }
        let result: Result<T, any Error>
        do {
            _ = try await AccountStore(observer).apply(Shop.catalog, by: "cli:test")
            result = .success(
                try await body(
                    RunningPages(port: port, observer: observer, sessions: visitors.table, isSecure: isSecure)))
        } catch {
            result = .failure(error)
        }
        await services.triggerGracefulShutdown()
        try await running.value
        await observer.close()
        return try result.get()
    }
}
