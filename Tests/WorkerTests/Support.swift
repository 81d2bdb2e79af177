import AppStorePayloads
import AppStoreVerification
import Foundation
import Ledger
import Logging
import Outbox
import Postgres
import Queue
import Schema
import ServiceLifecycle
import Simulator
import TestSupport
import Worker

/// Nothing that a test provokes on purpose is worth a line.
let quiet: Logger = {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    return logger
}()

/// A queue to work on, and a stand-in for Apple whom the workers trust.
struct Bench: Sendable {
    static let authority = Task { try SimulatedAuthority.generate() }
    static let app = SimulatedApp.example
    /// 2026-02-01T00:00:00Z
    static let now: Milliseconds = 1_769_904_000_000

    let database: TestDatabase
    let pool: PostgresPool
    let outbox: Outbox
    let authority: SimulatedAuthority

    /// A verifier that serves the simulator's app, unless told otherwise.
    func verifier(_ change: (inout VerifierConfiguration) -> Void = { _ in }) -> Verifier {
        var configuration = VerifierConfiguration(
            apps: [Self.app.bundleId: Self.app.appAppleId],
            trustedRoots: Set([Fingerprint(authority.rootFingerprint)].compactMap(\.self)))
        change(&configuration)
        return Verifier(configuration: configuration) { Timestamp(millisecondsSince1970: Self.now) }
    }

    /// A verifier that serves another app than the simulator's.
    var strangerToTheApp: Verifier { verifier { $0.apps = ["com.example.other": 1] } }

    /// Stores JWS as the receiver would.
    func store(_ texts: [String]) async throws { try await outbox.store(texts.map { Array($0.utf8) }) }

    /// TEST notifications, each with the UUID that it carries.
    func tests(_ count: Int, lane: Int = 1) -> [(uuid: UUID, text: String)] {
        var subscriber = SimulatedSubscriber(lane: lane, seed: UInt64(lane))
        for number in 0..<count { subscriber.test(at: Self.now + Int64(number) * 10_000) }
        return subscriber.takeNotifications().compactMap { notification in
            UUID(uuidString: notification.uuid).map { ($0, notification.signed(by: authority)) }
        }
    }

    /// One subscriber's purchase.
    func purchase(lane: Int = 1, in app: SimulatedApp = Bench.app) -> UnsignedNotification {
        var subscriber = SimulatedSubscriber(app: app, lane: lane, seed: UInt64(lane))
        subscriber.buy(.premiumMonthly, at: Self.now - 3_600_000)
        return subscriber.takeNotifications()[0]
    }

    /// A worker that nobody runs yet.
    func worker(
        _ verifier: Verifier? = nil, pool: PostgresPool, listener: PostgresListener? = nil,
        _ configuration: WorkerConfiguration = WorkerConfiguration(name: "test")
    ) -> Worker {
        Worker(
            pool: pool, verifier: verifier ?? self.verifier(), ledger: Ledger(), listener: listener,
            configuration: configuration, logger: quiet)
    }

    /// Runs a worker while `body` lasts, and then stops it gracefully.
    func withWorker<T: Sendable>(
        _ verifier: Verifier? = nil, batch: Int = 100, listening: Bool = false, poll: Duration = .milliseconds(30),
        retries: RetryPolicy = RetryPolicy(backoff: Backoff(base: .milliseconds(10), cap: .milliseconds(50))),
        lease: Duration = .seconds(60), pool own: PostgresPool? = nil,
        _ body: (RunningWorker) async throws -> T
    ) async throws -> T {
        let workers = own ?? PostgresPool(configuration: database.configuration, size: 2, logger: quiet)
        let listener =
            listening
            ? try PostgresListener(configuration: database.configuration, channel: Outbox.table.channel, logger: quiet)
            : nil
        let worker = worker(
            verifier, pool: workers, listener: listener,
            WorkerConfiguration(
                name: "test", batchSize: batch, lease: lease, retries: retries, pollInterval: poll))
        var services: [any Service] = [workers]
        if let listener { services.append(listener) }
        services.append(worker)
        let group = ServiceGroup(services: services, logger: quiet)
        let running = Task { try await group.run() }
        let result: Result<T, any Error>
        do { result = .success(try await body(RunningWorker(worker: worker, services: group))) } catch {
            result = .failure(error)
        }
        await group.triggerGracefulShutdown()
        try await running.value
        return try result.get()
    }

    /// Lets a worker do all there is to do.
    func workOff(_ verifier: Verifier? = nil, batch: Int = 100) async throws {
        try await withWorker(verifier, batch: batch) { _ in try await untilDone() }
    }

    /// Waits until the queue is empty.
    func untilDone() async throws {
        try await eventually("the queue is empty") {
            try await value("select count(*) from storehook.outbox_queue", as: Int64.self) == 0
        }
    }

    /// The only value of a statement's only row.
    func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// Open letters, the oldest first.
    func letters() async throws -> [DeadLetter] { try await outbox.deadLetters(DeadLetterFilter(), limit: 1000) }

    /// Everything in every table, as one digest a table.
    func contents() async throws -> [String: String] {
        let tables = try await pool.query(
            """
            select tablename::text from pg_tables
             where schemaname = 'storehook' and tablename not like 'outbox\\_2%' and tablename <> 'outbox_default'
            """
        ).map { try $0.decode(0, as: String.self) }
        var contents: [String: String] = [:]
        for table in tables {
            contents[table] = try await value(
                "select count(*) || ' ' || md5(coalesce(string_agg(t::text, '/' order by t::text), '')) from storehook.\(unescaped: table) t"
            )
        }
        return contents
    }

    /// Installs SQL of the test's own into the schema.
    func install(_ script: String) async throws {
        try await pool.withTransaction { try $0.executeScript(script) }
    }
}

/// A worker that works.
struct RunningWorker: Sendable {
    let worker: Worker
    let services: ServiceGroup
}

/// Runs `body` with a bench of its own.
func withBench<T>(
    isolation: isolated (any Actor)? = #isolation, _ body: (Bench) async throws -> T
) async throws -> T {
    let authority = try await Bench.authority.value
    return try await withMigratedDatabase(Schema.migrations, then: "select storehook.ensure_outbox_partitions()") {
        database in
        let pool = PostgresPool(configuration: database.configuration, size: 3, logger: quiet)
        do {
            let value = try await body(
                Bench(database: database, pool: pool, outbox: Outbox(pool), authority: authority))
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw error
        }
    }
}
