import AppStorePayloads
package import AppStoreVerification
import Base
package import Postgres
import Schema
package import Simulation
package import TestSupport

/// A database to bring evidence to, and a stand-in for Apple that its programs trust.
package protocol EvidenceSite: Sendable {
    /// The database.
    var database: TestDatabase { get }
    /// The test's own connections to it.
    var pool: PostgresPool { get }
    /// Who signs for Apple.
    var authority: SimulatedAuthority { get }
}

private let sharedAuthority = Task { try SimulatedAuthority.generate() }

/// Runs `body` with what an ``EvidenceSite`` is made of: a database of its own, and the Apple of all tests.
package func withEvidenceSite<T>(
    connections: Int, isolation: isolated (any Actor)? = #isolation,
    _ body: (TestDatabase, PostgresPool, SimulatedAuthority) async throws -> T
) async throws -> T {
    let authority = try await sharedAuthority.value
    return try await withMigratedDatabase(Schema.migrations, then: "select storehook.ensure_outbox_partitions()") {
        database in
        try await database.withPool(connections) { pool in try await body(database, pool, authority) }
    }
}

extension EvidenceSite {
    /// The simulator's app.
    package static var app: SimulatedApp { .example }
    /// 2026-02-01T00:00:00Z
    package static var now: Milliseconds { 1_769_904_000_000 }

    /// A verifier that serves the simulator's app, by default.
    package func verifier(
        asking revocation: RevocationCache? = nil, _ change: (inout VerifierConfiguration) -> Void = { _ in }
    ) -> Verifier {
        var configuration = VerifierConfiguration(
            apps: [Self.app.bundleId: Self.app.appAppleId],
            trustedRoots: Set([Fingerprint(authority.rootFingerprint)].compactMap(\.self)))
        change(&configuration)
        return Verifier(configuration: configuration, revocation: revocation) {
            Timestamp(millisecondsSince1970: Self.now)
        }
    }

    /// One customer's purchase as Apple would tell of it.
    package func purchase(lane: Int = 1, in app: SimulatedApp = Self.app) -> UnsignedNotification {
        var customer = SimulatedSubscriber(app: app, lane: lane, seed: UInt64(lane))
        customer.buy(.premiumMonthly, at: Self.now - 3_600_000)
        return customer.takeNotifications()[0]
    }

    /// Waits until the queue is empty.
    package func untilDone() async throws {
        try await eventually("the queue is empty") {
            try await value("select count(*) from storehook.outbox_queue", as: Int64.self) == 0
        }
    }

    /// The only value of a statement's only row.
    package func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// The first column of a statement's rows.
    package func texts(_ query: PostgresQuery) async throws -> [String] {
        try await pool.query(query).map { try $0.decode(0) }
    }

    /// Everything in every table, but for these tables, as one digest a table.
    package func contents(but others: [String] = []) async throws -> [String: String] {
        let tables = try await texts(
            """
            select tablename::text from pg_tables
             where schemaname = 'storehook' and tablename not like 'outbox\\_2%'
               and tablename <> all(\(others + ["outbox_default"]))
            """)
        var contents: [String: String] = [:]
        for table in tables {
            contents[table] = try await value(
                "select count(*) || ' ' || md5(coalesce(string_agg(t::text, '/' order by t::text), '')) from storehook.\(unescaped: table) t"
            )
        }
        return contents
    }
}
