import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import AppleSync
import Base
import Crypto
import EvidenceStore
import Foundation
import Pipeline
import Postgres
import Schema
import Simulation
import TestSupport

/// A database, and an Apple that its workers trust.
struct Site: Sendable {
    static let authority = Task { try SimulatedAuthority.generate() }
    static let app = SimulatedApp.example.in(.production)
    static let scope = AppEnvironment(bundleID: app.bundleId, environment: "Production")
    private static let keyText = P256.Signing.PrivateKey().pemRepresentation

    let database: TestDatabase
    let pool: PostgresPool
    let outbox: Outbox
    let history: History
    let authority: SimulatedAuthority
    let apple: ScriptedApple

    var verifier: Verifier { verifier(trusting: Set([Fingerprint(authority.rootFingerprint)].compactMap(\.self))) }

    func verifier(trusting roots: Set<Fingerprint>, _ revocation: RevocationCache? = nil) -> Verifier {
        Verifier(
            configuration: VerifierConfiguration(
                apps: [Self.app.bundleId: Self.app.appAppleId], environments: [.production], trustedRoots: roots),
            revocation: revocation
        ) { ImpatientClock().now() }
    }

    /// Plans as after some hours: the last window goes, and is made again.
    func replan() async throws {
        try await pool.query(
            "delete from storehook.history_windows where ends_at = (select max(ends_at) from storehook.history_windows)"
        )
        try await history.plan([Self.scope], behind: .zero, partial: true)
    }

    func client(_ verifier: Verifier? = nil) throws -> AppStoreClient {
        AppStoreClient(
            Credentials(
                bundleId: Self.app.bundleId, issuerId: "57246542-96fe-1a63-e053-0824d011072a", keyId: "2X9R4HXF34",
                key: try SigningKey(pem: Self.keyText)),
            transport: apple, clock: ImpatientClock(), verifier: verifier ?? self.verifier,
            budget: RateBudget(share: 1),
            policy: CallPolicy(maximumAttempts: 2, firstDelay: .milliseconds(1)), jitter: { 1 })
    }

    func clients(_ verifier: Verifier? = nil, in environments: Set<Environment> = [.production]) throws -> AppleClients
    {
        AppleClients([try client(verifier)], in: environments)
    }

    func duty(
        _ name: String = "test", over pool: PostgresPool? = nil, in environments: Set<Environment> = [.production]
    ) throws -> DutyRunner<HistoryDuty> {
        DutyRunner(
            HistoryDuty(History(pool ?? self.pool), sharing: nil, logger: quiet, metrics: AppleSyncMetrics()),
            try clients(in: environments), owner: name, interval: .zero)
    }

    func refreshing(_ verifier: Verifier? = nil, leeway: Duration = .zero) throws -> DutyRunner<RefreshDuty> {
        DutyRunner(
            RefreshDuty(history, leeway: leeway, logger: quiet, metrics: AppleSyncMetrics()), try clients(verifier),
            owner: "test", interval: .zero)
    }

    /// Asks every window there is, up to now.
    @discardableResult
    func reconcile(since: PostgresTimestamp? = nil) async throws -> HistoryProof {
        let proofs = try await Reconciliation(history, clients(), of: [Self.scope], owner: "test")
            .run(since: since) { _, _ in }
        return try proofs.one()
    }

    func check() async throws -> HistoryCheck {
        try await Reconciliation(history, clients(), of: [Self.scope], owner: "test")
            .check(since: nil) { _ in }.one()
    }

    /// Stores JWS as the receiver would.
    func post(_ texts: [String]) async throws { try await outbox.store(texts.map { Array($0.utf8) }) }

    /// The only value of a statement's only row.
    func value<T: PostgresDecodable & Sendable>(_ query: PostgresQuery, as: T.Type = T.self) async throws -> T {
        try await pool.query(query).one().decode(0)
    }

    /// Everything that was learned, as one digest a table, but for when and which way it came.
    func truth() async throws -> [String: String] {
        var truth: [String: String] = [:]
        for table in [
            "notifications", "purchase_facts", "transactions", "renewals", "subscriptions", "subscription_history",
            "one_time_purchases", "anomalies", "purchase_lines", "replaced_renewals",
        ] {
            truth[table] = try await value(
                """
                select count(*) || ' ' || md5(coalesce(string_agg(t.row, '/' order by t.row), ''))
                  from (select (to_jsonb(r) - array['outbox_id', 'received_at', 'applied_at', 'source', 'first_stored_at',
                                                     'last_stored_at'])::text as row
                          from storehook.\(unescaped: table) r) t
                """)
        }
        return truth
    }

    /// Nothing stored is in no place or in two.
    func isWhole() async throws -> Bool { try await outbox.conservation(audit: true).isWhole }
}

/// Customers who bought within Apple's reach: what Apple signed, by its date.
func lives(_ count: Int, by authority: SimulatedAuthority) -> [ScriptedApple.Listed] {
    let now = ImpatientClock().now().millisecondsSince1970
    var listed: [ScriptedApple.Listed] = []
    for lane in 1...count {
        var customer = SimulatedSubscriber(app: Site.app, lane: lane, seed: UInt64(lane))
        let line = customer.buy(.premiumMonthly, at: now - 170 * 86_400_000 + Int64(lane) * 3_700_000)
        for _ in 0..<4 { customer.renew(line) }
        if lane % 3 == 0 { customer.refund(customer.latest(of: line), at: now - 3 * 86_400_000 + Int64(lane) * 1000) }
        for notification in customer.takeNotifications() {
            listed.append(.init(signedDate: notification.signedDate, jws: notification.signed(by: authority)))
        }
    }
    return listed
}

/// TEST notifications, one a minute up to an instant.
func tests(
    _ count: Int, by authority: SimulatedAuthority, endingAt end: Int64? = nil, lane: Int = 1
) -> [(uuid: UUID, listed: ScriptedApple.Listed)] {
    let end = end ?? ImpatientClock().now().millisecondsSince1970 - 60_000
    var customer = SimulatedSubscriber(app: Site.app, lane: lane, seed: UInt64(lane))
    for number in 0..<count { customer.test(at: end - Int64(count - number) * 60_000) }
    return customer.takeNotifications().compactMap { notification in
        UUID(uuidString: notification.uuid).map {
            ($0, .init(signedDate: notification.signedDate, jws: notification.signed(by: authority)))
        }
    }
}

extension Array {
    /// Its only element.
    func one() throws -> Element {
        guard count == 1, let first else { throw NeverHappened("there is one, not \(count)") }
        return first
    }
}

/// Runs `body` with a site of its own.
func withSite<T>(
    pageSize: Int = 20, isolation: isolated (any Actor)? = #isolation, _ body: (Site) async throws -> T
) async throws -> T {
    let authority = try await Site.authority.value
    return try await withMigratedDatabase(Schema.migrations, then: "select storehook.ensure_outbox_partitions()") {
        database in
        let pool = PostgresPool(configuration: database.configuration, size: 3, logger: quiet)
        do {
            let value = try await body(
                Site(
                    database: database, pool: pool, outbox: Outbox(pool), history: History(pool), authority: authority,
                    apple: ScriptedApple(pageSize: pageSize)))
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw error
        }
    }
}
