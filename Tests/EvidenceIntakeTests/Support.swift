import AppStorePayloads
import AppStoreVerification
import EvidenceIntake
import EvidenceVerification
import Foundation
import Ledger
import Logging
import Metrics
import Monitoring
import Outbox
import Postgres
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

/// A database to hand things in to, and a stand-in for Apple whom it trusts.
struct Desk: Sendable {
    static let authority = Task { try SimulatedAuthority.generate() }
    static let app = SimulatedApp.example
    /// 2026-02-01T00:00:00Z
    static let now: Milliseconds = 1_769_904_000_000

    let database: TestDatabase
    let pool: PostgresPool
    let outbox: Outbox
    let authority: SimulatedAuthority

    /// A verifier that serves the simulator's app.
    func verifier(asking revocation: RevocationCache? = nil) -> Verifier {
        let configuration = VerifierConfiguration(
            apps: [Self.app.bundleId: Self.app.appAppleId],
            trustedRoots: Set([Fingerprint(authority.rootFingerprint)].compactMap(\.self)))
        return Verifier(configuration: configuration, revocation: revocation) {
            Timestamp(millisecondsSince1970: Self.now)
        }
    }

    /// An intake over the test's own pool, or another one.
    func intake(
        _ own: PostgresPool? = nil, asking revocation: (RevocationCache, RevocationChecker)? = nil,
        deadline: Duration = .seconds(60), metrics: any MetricsFactory = MetricsRegistry(MetricFamily.storehook)
    ) -> EvidenceIntake {
        EvidenceIntake(
            pool: own ?? pool, verifier: verifier(asking: revocation?.0), ledger: Ledger(),
            revocation: revocation?.1, deadline: deadline, logger: quiet, metrics: metrics)
    }

    /// One customer's purchase as Apple would tell of it.
    func purchase(lane: Int = 1) -> UnsignedNotification {
        var customer = SimulatedSubscriber(app: Self.app, lane: lane, seed: UInt64(lane))
        customer.buy(.premiumMonthly, at: Self.now - 3_600_000)
        return customer.takeNotifications()[0]
    }

    /// The records in a notification as the app has them.
    func records(_ notification: UnsignedNotification) -> [HandedIn] {
        let parts: [(HandedIn.Kind, [UInt8]?)] = [
            (.transaction, notification.transaction?.json), (.renewal, notification.renewal?.json),
        ]
        return parts.compactMap { kind, json in json.map { HandedIn(kind, authority.sign($0)) } }
    }

    /// A transaction's JSON with one text in the place of another, signed.
    func transaction(
        _ notification: UnsignedNotification, replacing old: String, with new: String
    ) -> HandedIn {
        let json = String(decoding: notification.transaction?.json ?? [], as: UTF8.self)
        return HandedIn(.transaction, authority.sign(Array(json.replacing(old, with: new).utf8)))
    }

    /// Hands in and answers in words: `applied`, `duplicate`, `refused wrong_bundle`, `undecided purchase_unknown`.
    func handIn(_ records: [HandedIn], to intake: EvidenceIntake? = nil) async throws -> [String] {
        let (answers, _) = try await (intake ?? self.intake()).take(records) { _, _ in }
        return answers.map(\.words)
    }

    /// Runs a worker while `body` lasts, and until the queue is empty.
    func withWorker(_ body: () async throws -> Void) async throws {
        let workers = PostgresPool(configuration: database.configuration, size: 2, logger: quiet)
        let worker = Worker(
            pool: workers, verifier: verifier(), ledger: Ledger(), listener: nil,
            configuration: WorkerConfiguration(name: "test", batchSize: 20, pollInterval: .milliseconds(10)),
            logger: quiet)
        let group = ServiceGroup(services: [workers, worker], logger: quiet)
        let running = Task { try await group.run() }
        let result: Result<Void, any Error>
        do {
            try await body()
            try await eventually("the queue is empty") {
                try await value("select count(*) from storehook.outbox_queue", as: Int64.self) == 0
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await group.triggerGracefulShutdown()
        try await running.value
        try result.get()
    }

    /// The only value of a statement's only row.
    func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// The first column of a statement's rows.
    func texts(_ query: PostgresQuery) async throws -> [String] {
        try await pool.query(query).map { try $0.decode(0) }
    }

    /// Facts and state of all purchases, but for what tells the order in which they came.
    func rows() async throws -> [String] {
        try await texts(
            """
            select row from (
                select 't' || to_jsonb(t)::text as row from storehook.transactions t
                union all select 'r' || to_jsonb(r)::text from storehook.renewals r
                union all select 's' || to_jsonb(s)::text from storehook.subscriptions s
                union all select 'p' || to_jsonb(p)::text from storehook.purchase_lines p
                union all select 'o' || to_jsonb(o)::text from storehook.one_time_purchases o
                union all select 'a' || to_jsonb(a)::text from storehook.anomalies a
                union all select 'f' || (to_jsonb(f) - 'outbox_id')::text from storehook.purchase_facts f) all_rows
             order by row
            """)
    }

    /// Everything in every table but the headers of signatures, as one digest a table.
    func contents() async throws -> [String: String] {
        let tables = try await texts(
            """
            select tablename::text from pg_tables
             where schemaname = 'storehook' and tablename not like 'outbox\\_2%'
               and tablename not in ('outbox_default', 'signature_headers')
            """)
        var contents: [String: String] = [:]
        for table in tables {
            contents[table] = try await value(
                "select count(*) || ' ' || md5(coalesce(string_agg(t::text, '/' order by t::text), '')) from storehook.\(unescaped: table) t"
            )
        }
        return contents
    }

    /// Where everything is, counted as programs do, and counted from every row there is: the same.
    func books() async throws -> Conservation? {
        let books = try await outbox.conservation()
        return try await outbox.conservation(audit: true) == books ? books : nil
    }
}

extension IntakeAnswer {
    /// In words, without the message.
    var words: String {
        switch self {
        case .taken(let evidence): evidence.outcome.rawValue
        case .refused(let code, _): "refused \(code.rawValue)"
        case .undecided(let reason): "undecided \(reason.rawValue)"
        }
    }
}

/// Runs `body` with a database of its own.
func withDesk<T>(
    connections: Int = 4, isolation: isolated (any Actor)? = #isolation, _ body: (Desk) async throws -> T
) async throws -> T {
    let authority = try await Desk.authority.value
    return try await withMigratedDatabase(Schema.migrations, then: "select storehook.ensure_outbox_partitions()") {
        database in
        let pool = PostgresPool(configuration: database.configuration, size: connections, logger: quiet)
        do {
            let value = try await body(
                Desk(database: database, pool: pool, outbox: Outbox(pool), authority: authority))
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw error
        }
    }
}

extension Array {
    /// Cut into parts of this size.
    func batches(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
