import AccountStore
import Accounts
import AppStorePayloads
import AppStoreVerification
import AppleRecords
import AppleSync
import ArgumentParser
import Base
import EventStore
import EvidenceStore
import FigureStore
import Foundation
import Logging
import Operations
import OrderStore
import Pipeline
import Postgres
import PurchaseStore
import Subscriptions
import Worker

struct Work: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify and apply what the receivers stored.",
        discussion: """
            Run as many as you like, on as many machines. SIGTERM finishes the batch in hand and gives the rest back.
            A database that is away is waited for, also at the start.
            With --metrics-port it serves /metrics, /healthz and /readyz. Where keys are set (STOREHOOK_APPLE_KEYS) it also
            asks Apple, beside its work, for what was lost on the way; see storehook reconcile. By the
            catalog's refunds, or STOREHOOK_CONSUMPTION_POLICY, it answers Apple's requests for consumption data; see storehook consumption.
            Where STOREHOOK_SECRET_KEY_FILE is set it delivers events to endpoints; see storehook endpoints.

            Example: STOREHOOK_APPS=com.example.app=1234567890 storehook work --metrics-port 9101
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var operations: OperationsOptions
    @Option(help: "Notifications claimed at a time, 1 to 1000.") var batch = 100

    func validate() throws {
        try (1...1000).check(batch, "--batch")
    }

    func run() async throws {
        let settings = try await shared.settings()
        let read = try WorkSettings(settings)
        guard !read.verifier.apps.isEmpty else {
            throw settings.missing(
                "STOREHOOK_APPS names no app, and APPLE_BUNDLE_ID none; every notification would end as a dead letter. "
                    + "Example: STOREHOOK_APPS=com.example.app=1234567890")
        }
        var logger = try settings.programLogger("worker")
        let name = "\(ProcessInfo.processInfo.hostName):\(ProcessInfo.processInfo.processIdentifier)"
        logger[metadataKey: "worker"] = "\(name)"
        let monitoring = try operations.monitoring("worker", settings)
        monitoring?.countProcess()
        let requester = read.checksRevocation ? OCSPRequester() : nil
        let apple = read.apple.map { AppleAccess($0) }
        do {
            let services = try await services(read, monitoring, requester, apple, name: name, logger: logger)
            try await services.run(logger: logger)
            await requester?.shutdown()
            await apple?.shutdown()
        } catch {
            await requester?.shutdown()
            await apple?.shutdown()
            throw error
        }
    }

    /// What it runs.
    func services(
        _ settings: WorkSettings, _ monitoring: ProgramMonitoring?, _ requester: OCSPRequester?,
        _ apple: AppleAccess? = nil,
        name: String, logger: Logger
    ) async throws -> ProgramServices {
        let trust = settings.verifier
        // One to claim, one to apply, two for the clocks; and maintenance, both counts and a job, which may be slow, have one each.
        let pool = PostgresPool(
            configuration: settings.database, size: 8, logger: logger, onError: monitoring?.countError)
        let start = try await DatabaseStart {
            try await Database.explaining(pool, for: .role(.worker)) {
                try await Database.requireCurrentSchema(pool)
                try await Database.requireAccountIDs(pool, settings.accountIDs)
                try await Self.recordServed(ServedApps(trust), Outbox(pool))
            }
        }
        var listener: PostgresListener?
        if settings.listens {
            listener = try PostgresListener(
                configuration: settings.database, channel: Outbox.table.channel, logger: logger)
        }
        let cache = requester.map { _ in RevocationCache() }
        var configuration = WorkerConfiguration(
            name: name, batchSize: batch, lease: settings.lease, retries: settings.retries)
        configuration.junk = settings.junk
        let events = EventStore(pool)
        let clock = EventClock(
            events, AccountStore(pool), Outbox(pool), logger: logger, metrics: EventMetrics())
        let tally = WorkTally()
        let worker = Worker(
            pool: pool,
            verifier: Verifier(configuration: trust, revocation: cache, clock: WallClock.now),
            ledger: Ledger(policy: settings.status),
            listener: listener,
            revocation: cache.flatMap { requester?.checker(for: $0, logger: logger) },
            configuration: configuration, clock: clock, tally: tally,
            logger: logger)
        let maintenance = MaintenanceService(
            of: pool, retention: settings.retention, served: ServedApps(trust), logger: logger)
        logger.info("Serving", metadata: ["apps": "\(trust.apps.keys.sorted().joined(separator: ","))"])
        var services = ProgramServices()
        services.add("the database pool", pool)
        operations.serve(monitoring, in: &services, logger: logger, notReady: { worker.whyNotReady })
        let first = services.members.count
        if let listener { services.add("the listener", listener) }
        services.add("the maintenance", maintenance)
        services.add("the clock of events", clock)
        services.add(
            "the clock of orders",
            OrderClock(OrderStore(pool), AccountStore(pool), Ledger(policy: settings.status), logger: logger))
        services.add("the clock of figures", FigureClock(FigureStore(pool), AccountStore(pool), logger: logger))
        services.add("the clock of account counts", AccountCountClock(AccountStore(pool), logger: logger))
        services.add(
            "the clock of what is due", DueClock(DueEnds(pool, policy: settings.status), logger: logger))
        services.add("the overview", OverviewClock(OverviewStore(pool), tally, logger: logger))
        let rehearsal = ReplayDryRun(
            pool: pool, verifier: Verifier(configuration: trust, revocation: cache, clock: WallClock.now),
            ledger: Ledger(policy: settings.status))
        services.add(
            "the jobs",
            JobService(JobStore(pool), name: name, lease: settings.lease, logger: logger) {
                try await rehearsal.run($0, at: WallClock.now())
            })
        services.add("the worker", worker)
        try addWebhooks(settings, monitoring, to: &services, name: name, logger: logger)
        addDuties(apple, settings, monitoring, beside: pool, to: &services, name: name, logger: logger)
        if !start.hasBegun { services.begin(from: first, after: start) }
        return services
    }

    /// Records which apps this worker serves. Fails where the database serves apps that must not share it with them.
    private static func recordServed(_ own: ServedApps, _ outbox: Outbox) async throws {
        if let (purchases, homemade) = try await outbox.record(own) {
            throw CommandFailure(
                "this database serves \(purchases), and with these settings \(homemade) too, for which everybody with Xcode can "
                    + "sign: give \(homemade) a database of its own (DATABASE_URL, STOREHOOK_ENVIRONMENTS)",
                status: .usage)
        }
    }

    /// Adds the tasks that call Apple beside the worker, over their own connection, so that an outage of Apple does not
    /// slow the worker.
    private func addDuties(
        _ apple: AppleAccess?, _ settings: WorkSettings, _ monitoring: ProgramMonitoring?, beside workers: PostgresPool,
        to services: inout ProgramServices, name: String, logger: Logger
    ) {
        let metrics = AppleSyncMetrics()
        func addConsumption(_ pool: PostgresPool, _ clients: AppleClients) {
            let accounts = AccountStore(pool)
            services.add(
                "the answering of requests for consumption data",
                DutyRunner(
                    ConsumptionDuty(
                        .recordingEvents(pool), settings.consumption,
                        catalog: { try await accounts.current()?.catalog.refunds },
                        logger: logger, metrics: metrics),
                    clients, owner: name))
        }
        let clients = apple?.clients(observer: ClientMetrics().observer)
        // Without a key (shared secrets do not count) Apple cannot be asked. Consumption requests are still recorded,
        // with the reason why they are not answered.
        guard let clients, !clients.scopes.isEmpty else { return addConsumption(workers, AppleClients([], in: [])) }
        let pool = PostgresPool(
            configuration: settings.database, size: 1, logger: logger, onError: monitoring?.countError)
        let history = History(pool)
        services.add("the duties' database pool", pool)
        services.add(
            "reconciliation",
            DutyRunner(
                HistoryDuty(history, sharing: clients.budget, logger: logger, metrics: metrics), clients, owner: name)
        )
        services.add(
            "the refreshing of purchases",
            DutyRunner(
                RefreshDuty(
                    history, leeway: .seconds(settings.status.renewalLeewaySeconds), logger: logger,
                    metrics: metrics),
                clients, owner: name))
        addConsumption(pool, clients)
        services.add(
            "the extension of renewal dates",
            DutyRunner(
                ExtensionDuty(RenewalExtensions(pool), history, logger: logger, metrics: metrics), clients,
                owner: name))
        let intervals = clients.scopes.compactMap { scope in
            settings.canaryIntervals[Environment(rawValue: scope.environment)].map { (scope: scope, interval: $0) }
        }
        if !intervals.isEmpty {
            services.add(
                "the canary",
                DutyRunner(
                    CanaryDuty(Canaries(pool), intervals: intervals, logger: logger, metrics: metrics), clients,
                    owner: name))
        }
    }
}
