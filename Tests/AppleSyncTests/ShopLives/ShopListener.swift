import AccountStore
import Accounts
import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import Base
import EventStore
import EvidenceStore
import Foundation
import Metrics
import Pipeline
import Postgres
import PurchaseStore
import Subscriptions
import TestSupport

@testable import AccountAPI
@testable import AppleSync
@testable import Simulation
@testable import Worker

/// A database in which time is the test's, and the program on it: a worker, the clock of events and, where there is a key, the
/// duties that ask Apple.
struct ShopListener: Sendable {
    static let scope = AppEnvironment(bundleID: SimulatedApp.example.bundleId, environment: "Production")

    /// What the shop sells, as the operator sells it on.
    static let catalog = shopLivesCatalog(seasonDays: seasonDays)
    static let seasonDays: Int64 = 20
    /// What each product gives.
    static let tiers = [
        "basic.weekly": "pro", "basic.monthly": "pro", "basic.yearly": "pro", "news.monthly": "pro",
        "premium.monthly": "premium", "premium.yearly": "premium", "lifetime.unlock": "premium", "season.pass": "pro",
    ]
    private static let products = tiers.keys.sorted().map { "com.example.storehook.\($0)" }

    let pool: PostgresPool
    let accounts: AccountStore
    private let outbox: Outbox
    private let history: History
    private let verifier: BatchVerifier
    private let settler: BatchSettler
    private let events: EventStore
    private let eventClock: EventClock
    private let refreshing: DutyRunner<RefreshDuty>?
    private let reconciling: DutyRunner<HistoryDuty>?

    /// - Parameter client: asks Apple; nil where there is no key.
    init(_ pool: PostgresPool, trusting verifier: Verifier, _ client: AppStoreClient?) {
        let policy = StatusPolicy.usual
        let configuration = WorkerConfiguration(name: "test")
        let (metrics, watch) = (WorkerMetrics(MetricsSystem.factory), Watchdog(limit: .seconds(60), logger: quiet))
        self.pool = pool
        accounts = AccountStore(pool)
        outbox = Outbox(pool)
        history = History(pool)
        events = EventStore(pool)
        eventClock = EventClock(events, accounts, outbox, logger: quiet, metrics: EventMetrics())
        self.verifier = BatchVerifier(
            verifier: verifier, evidence: EvidenceVerifier(verifier, pool), revocation: nil,
            configuration: configuration, watch: watch, metrics: metrics)
        settler = BatchSettler(
            pool: pool, pipeline: EvidencePipeline(pool, ledger: Ledger(policy: policy)), configuration: configuration,
            watch: watch, logger: quiet, metrics: metrics, clock: eventClock)
        if let client {
            let clients = AppleClients([client], in: [.production])
            let metrics = AppleSyncMetrics()
            refreshing = DutyRunner(
                RefreshDuty(
                    history, leeway: .seconds(policy.renewalLeewaySeconds), logger: quiet, metrics: metrics),
                clients, owner: "test", interval: .zero)
            reconciling = DutyRunner(
                HistoryDuty(history, sharing: nil, logger: quiet, metrics: metrics), clients, owner: "test",
                interval: .zero)
        } else {
            (refreshing, reconciling) = (nil, nil)
        }
    }

    /// Begins at an instant, when an operator has applied the catalog and Apple's list was walked.
    func begin(at instant: Int64) async throws {
        try await pool.stopTime(at: instant)

        _ = try await accounts.apply(Self.catalog, by: "test")
        try await pool.query(
            """
            insert into storehook.history_windows
                   (environment, bundle_id, starts_at, ends_at, askings, first_asked_at, asked_at, proven_at)
            values (\(Self.scope.environment), \(Self.scope.bundleID), now() - interval '1 hour', date_trunc('hour', now()),
                    1, now(), now(), now())
            """)
    }

    /// Hears what arrives at its present instant, and what came to be by itself.
    func hear(_ posts: [String]) async throws {
        if !posts.isEmpty { try await outbox.store(posts.map { Array($0.utf8) }) }
        try await work()
        while try await eventClock.tick() {}
    }

    /// Lets a worker do all there is to do.
    private func work() async throws {
        while true {
            let claimed = try await outbox.claim(100, for: Lease(owner: "test", duration: .seconds(60)))
            guard !claimed.rows.isEmpty else { return }
            let settlement = await settler.settle(await verifier.prepare(claimed))
            let tally = settlement.tally
            guard settlement.pause == nil, tally.dead == 0, tally.reschedule == 0, tally.lost == 0 else {
                throw NeverHappened("a worker settles all there is: \(settlement)")
            }
        }
    }

    /// Asks Apple for all that the records contradict, and for renewals that are waited for.
    func refresh() async throws {
        guard let refreshing, try await exhaust(refreshing) > 0 else { return }
        try await hear([])
    }

    /// Compares the hour that was over some minutes ago with Apple's list. Of the hours before, everything arrived: what
    /// asking would come to is written down.
    func reconcile(hourBeginningAt hour: Int64) async throws {
        guard let reconciling else { return }
        try await pool.query(
            """
            insert into storehook.history_windows
                   (environment, bundle_id, starts_at, ends_at, askings, first_asked_at, asked_at, proven_at)
            select w.environment, w.bundle_id, max(w.ends_at), to_timestamp(\(hour)::bigint / 1000.0), 1, now(), now(), now()
              from storehook.history_windows w
             group by w.environment, w.bundle_id
            having max(w.ends_at) < to_timestamp(\(hour)::bigint / 1000.0)
            """)
        if try await exhaust(reconciling) > 0 { try await hear([]) }
    }

    /// - Returns: how many rows were worked.
    private func exhaust(_ duty: DutyRunner<some AppleDuty>) async throws -> Int {
        var worked = 0
        while true {
            switch try await duty.step() {
            case .worked: worked += 1
            case .idle: return worked
            case .inTrouble(let why): throw NeverHappened("Apple answers: \(why)")
            }
        }
    }

    // MARK: - Readers

    /// What one reader says of an account.
    struct Said: Hashable, CustomStringConvertible {
        var status: String
        var tier: String
        var access: Bool

        var description: String { "\(status) \(tier) \(access)" }
    }

    /// What all readers say of an account now.
    struct Reading {
        /// By the reader's name.
        var said: [String: Said] = [:]
        /// The products that SQL's `has_access` lets in, without their prefix.
        var products: Set<String> = []
        /// The same by the account API.
        var listed: Set<String> = []
    }

    /// What `has_access` says of accounts now: the products, without their prefix.
    func products(of tokens: [UniqueIdentifier]) async throws -> [UniqueIdentifier: Set<String>] {
        let rows = try await pool.query(
            """
            select w.token, array(select p.id from unnest(\(Self.products)) p (id) where storehook.has_access(w.token, p.id))
              from unnest(\(tokens.map { UUID($0) })) w (token)
            """)
        var read: [UniqueIdentifier: Set<String>] = [:]
        for row in rows {
            read[UniqueIdentifier(try row.decode(0, as: UUID.self))] = Self.short(try row.decode(1, as: [String].self))
        }
        return read
    }

    static func short(_ products: some Sequence<String>) -> Set<String> {
        Set(products.map { String($0.dropFirst("com.example.storehook.".count)) })
    }

    /// Everything that reads accounts, asked at the present instant.
    func read(_ tokens: [UniqueIdentifier], at milliseconds: Int64) async throws -> [UniqueIdentifier: Reading] {
        let instant = Timestamp(millisecondsSince1970: milliseconds)
        var read = try await products(of: tokens).mapValues { Reading(products: $0) }
        for (name, relation) in [
            ("account_status_now", "account_status_now"), ("account_status_at", "account_status_at(now())"),
        ] {
            let rows = try await pool.query(
                """
                select w.token, coalesce(s.status, 'free') as status, coalesce(s.tier, 'free') as tier,
                       coalesce(s.access, false) as access
                  from unnest(\(tokens.map { UUID($0) })) w (token)
                  left join storehook.\(unescaped: relation) s on s.token = w.token and s.environment = 'Production'
                """)
            for row in rows {
                let token = UniqueIdentifier(try row.decode("token", as: UUID.self))
                read[token]?.said[name] = Said(
                    status: try row.decode("status"), tier: try row.decode("tier"), access: try row.decode("access"))
            }
        }
        let views = try await accounts.views(tokens.map { .init($0, in: "Production") })
        let memory = GuardMemory(
            logger: quiet, clock: { [now = ContinuousClock.now] in now },
            counting: { _ in throw NeverHappened("use is asked for") }
        ) { caller in
            guard let view = views.first(where: { $0.token == caller.token }) else {
                throw NeverHappened("it was read")
            }
            return AccountEnvironments(production: view).remembered
        }
        for view in views {
            guard let catalog = view.catalog else { throw NeverHappened("there is a catalog") }
            let answer = AccountShapes.account.value(of: view, for: Reader(catalog))
            guard case .string(let status)? = answer["status"], case .string(let tier)? = answer["tier"],
                case .bool(let access)? = answer["hasAccess"]
            else { throw NeverHappened("an answer with status, tier and access: \(answer)") }
            read[view.token]?.said["API"] = Said(status: status, tier: tier, access: access)
            read[view.token]?.listed = Self.short(view.purchases.filter(\.givesAccess).compactMap(\.productID))
            let phase = view.state.value(at: instant)
            read[view.token]?.said["rules"] = Said(phase)
            let command = try await accounts.history(of: view.token, in: "Production", at: instant)?.current
            read[view.token]?.said["command"] =
                command.map(Said.init) ?? Said(status: "free", tier: "free", access: false)
            let caller = Caller(AccountIdentity(token: view.token), isServer: false)
            guard let known = await memory.knowledge(of: caller) else { throw NeverHappened("the guard knows") }
            let isLetIn = known.account.refusal(at: known.now, tier: nil, feature: nil) == nil
            read[view.token]?.said["guard"] = Said(status: phase.status.rawValue, tier: phase.tier, access: isLetIn)
        }
        return read
    }

    /// Apple's number for each subscription's status as it is read now, and when its period ends, by original transaction.
    func statuses(of originals: [String]) async throws -> [String: (status: Int, end: Int64)] {
        let numbers = [
            "trial": 1, "active": 1, "cancelled": 1, "expired": 2, "billing_retry": 3, "grace_period": 4, "revoked": 5,
        ]
        var read: [String: (status: Int, end: Int64)] = [:]
        for row in try await pool.query(
            """
            select s.original_transaction_id, s.status, s.period_ends_at from unnest(\(originals)) w (id)
              join storehook.subscription_status s
                   on s.original_transaction_id = w.id and s.environment = 'Production'
                  and s.bundle_id = \(Self.scope.bundleID)
            """)
        {
            let end: PostgresTimestamp = try row.decode(2)
            read[try row.decode(0)] = (numbers[try row.decode(1)] ?? 0, end.millisecondsSince1970)
        }
        return read
    }

    /// Accounts that are stored otherwise than the rules derive them, and accounts whose last event is not what they are.
    func faults() async throws -> [String] {
        var (faults, last) = ([String](), UniqueIdentifier?.none)
        while true {
            let after = last
            let page = try await pool.withTransaction { try accounts.rederive(after: after, repair: false, $0) }
            guard let page, let end = page.accounts.last else { break }
            faults += page.differences.map { "stored otherwise than derived: \($0)" }
            last = end
        }
        let check = try await events.checkAccounts()
        if check.differing > 0 { faults.append("\(check.differing) accounts whose last event is not what they are") }
        return faults
    }
}

extension ShopListener.Said {
    init(_ phase: AccountPhase) {
        self.init(status: phase.status.rawValue, tier: phase.tier, access: phase.access)
    }
}
