import AccountAPI
import AccountStore
import AppStorePayloads
import AppleRecords
import AsyncHTTPClient
import Base
import Foundation
import HTTPKit
import Logging
import NIOCore
import NIOHTTP1
import Postgres
import Schema
import ServiceLifecycle
import TestSupport

@testable import APIKit

/// A client that takes no for an answer.
let client: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.redirectConfiguration = .disallow
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
}()

/// What an account API answered.
struct Answer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: String

    /// The body's members.
    var object: JSONObject? { try? JSONDocument(Array(body.utf8)).object }
    /// The problem's code.
    var code: String? { object?.string("code") }
    func header(_ name: String) -> String? { headers.first(name: name) }
}

/// The wall clock of this machine.
@Sendable func wallClock() -> Timestamp {
    Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
}

/// A directory that lasts as long as `body`.
func withDirectory<T>(
    isolation: isolated (any Actor)? = #isolation, _ body: (URL) async throws -> T
) async throws -> T {
    let directory = FileManager.default.temporaryDirectory.appending(path: "storehook-api-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    do {
        let value = try await body(directory)
        try? FileManager.default.removeItem(at: directory)
        return value
    } catch {
        try? FileManager.default.removeItem(at: directory)
        throw error
    }
}

/// A running account API and the database behind it.
struct RunningAPI: Sendable {
    static let rules = TokenRules(issuer: "https://login.example.com", audience: "store")

    let port: Int
    let database: TestDatabase
    /// A way to the database beside the API's own.
    let observer: PostgresPool
    let signer: TokenSigner
    let serverKeys: ServerKeyTable
    let ids: AccountIDTable
    /// Where the test wants one.
    var feed: EventFeed?

    func send(
        _ method: String, _ path: String, token: String? = nil, body: String? = nil, _ headers: [(String, String)] = []
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = HTTPMethod(rawValue: method)
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await client.execute(request, timeout: .seconds(600))
        return Answer(
            status: Int(response.status.code), headers: response.headers,
            body: String(buffer: try await response.body.collect(upTo: 4 << 20)))
    }

    func get(_ path: String, token: String? = nil, _ headers: [(String, String)] = []) async throws -> Answer {
        try await send("GET", path, token: token, headers)
    }

    /// A key of one of the operator's servers, that the API knows of already.
    func serverKey() async throws -> (key: ServerKey, recorded: RecordedServerKey) {
        let key = ServerKey()
        let recorded = try await ServerKeys(observer).add(key, name: "test", by: "test")
        try await serverKeys.read()
        return (key, recorded)
    }
}

/// Runs an account API, and ends it gracefully after `body`, whatever becomes of it.
///
/// - Parameters:
///   - url: How it reaches the database, where it is not the short way.
///   - sandbox: Whose purchases in Sandbox open what the guard keeps.
///   - desk: What answers about accounts, where a test asks about them.
///   - feed: What lists events, where a test asks for them.
///   - adjust: Changes how it listens.
///   - statementLimit: How long a statement may take.
///   - proven: Up to when what the guard keeps holds all that Apple has posted.
///   - now: The present that accounts are read at; the database's clock by default.
///   - onAsk: Told of each time that the database is asked whether it answers.
func withAPI<T: Sendable>(
    url: (@Sendable (TestDatabase) async throws -> String)? = nil,
    endpoints more: [AccountEndpoint] = [],
    sandbox: SandboxAccess = .testers([]), proven: ProvenAnswers = .none,
    desk: ((PostgresPool, AccountReads, GuardMemory) -> AccountHandlers)? = nil,
    feed makeFeed: ((PostgresPool, DatabaseWatch) -> EventFeed)? = nil,
    adjusting adjust: (inout APIConfiguration) -> Void = { _ in },
    logger: Logger = quiet,
    statementLimit: Duration = .seconds(4),
    now: @escaping @Sendable () -> Timestamp? = { nil },
    onAsk: @escaping @Sendable () -> Void = {},
    isolation: isolated (any Actor)? = #isolation,
    _ body: (RunningAPI) async throws -> T
) async throws -> T {
    try await withDirectory { directory in
        try await withMigratedDatabase(Schema.migrations, then: "select storehook.ensure_outbox_partitions()") {
            database in
            let signer = try await TokenSigner(in: directory)
            let observer = PostgresPool(configuration: database.configuration, size: 4, logger: quiet)
            var way = database.configuration
            if let url { way = try PostgresConfiguration(url: try await url(database)) }
            way.acquireTimeout = .milliseconds(800)
            way.connectTimeout = .milliseconds(800)
            way.queryTimeout = statementLimit
            way.cancelGracePeriod = .milliseconds(500)
            let pool = PostgresPool(configuration: way, size: 4, logger: quiet)
            let watchPool = PostgresPool(
                configuration: DatabaseWatch.configuration(like: way), size: 1, logger: quiet)
            var configuration = APIConfiguration(host: "127.0.0.1", port: 0)
            adjust(&configuration)
            let (ports, listening) = AsyncStream.makeStream(of: Int.self)
            var own: [AccountEndpoint] = [
                .consumptionConsent(Consents(pool)),
                TestNotificationRoute(nil, Canaries(pool), now: wallClock).endpoint,
            ]
            let watch = DatabaseWatch(logger: quiet) {
                onAsk()
                try await watchPool.query("select 1")
            }
            let reads = AccountReads(AccountStore(pool), connections: 4, watch: watch, now: now)
            let feed = makeFeed?(pool, watch)
            if let feed { own.append(feed.endpoint) }
            // The guard as `storehook serve` has it.
            let memory = GuardMemory(
                logger: quiet, reading: AccountEnvironmentReads(reads, sandbox: sandbox, proven: proven),
                counting: CounterReads(Usage(pool), connections: 4, watch: watch))
            let answered: [AccountEndpoint] =
                desk.map { $0(pool, reads, memory).endpoints + [Guard(memory).endpoint] } ?? [.bareAccount()]
            let endpoints = AccountEndpoint.withStanding(answered + own + more)
            let metrics = APIMetrics(endpoints: endpoints)
            let tokenKeys = TokenKeys(.file(signer.file), logger: quiet)
            let serverKeys = ServerKeyTable(ServerKeys(pool), logger: quiet)
            let ids = AccountIDTable(AccountIDs(pool), logger: quiet)
            let api = AccountAPI(
                endpoints, tokenKeys: tokenKeys, check: TokenCheck(tokenKeys, RunningAPI.rules, ids, now: wallClock),
                serverKeys: serverKeys, ids: ids, watch: watch, configuration: configuration,
                metrics: metrics, callerMetrics: CallerMetrics(), logger: logger
            ) { listening.yield($0) }
            let others: [any Service] = [pool, watchPool] + (feed.map { [$0] } ?? [])
            let services = ServiceGroup(services: others + [api], logger: quiet)
            let running = Task { try await services.run() }
            var iterator = ports.makeAsyncIterator()
            guard let port = await iterator.next() else { throw NeverHappened("the account API listens") }
            try await eventually("it has its keys") { api.whyNotReady == nil }
            let result: Result<T, any Error>
            do {
                result = .success(
                    try await body(
                        RunningAPI(
                            port: port, database: database, observer: observer, signer: signer, serverKeys: serverKeys,
                            ids: ids,
                            feed: feed))
                )
            } catch {
                result = .failure(error)
            }
            await services.triggerGracefulShutdown()
            try await running.value
            await observer.close()
            return try result.get()
        }
    }
}
