import APIKit
import AccountAPI
import AccountStore
import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import AppleSync
import ArgumentParser
import Base
import EventStore
import EvidenceStore
import HTTPKit
import Logging
import Metrics
import Operations
import Pipeline
import Postgres
import PurchaseStore

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Answer what apps and their backends ask: the account API.",
        discussion: """
            Apps send a JWT of their own, which STOREHOOK_JWT_KEYS, STOREHOOK_JWT_ISSUER and STOREHOOK_JWT_AUDIENCE say how to
            check; backends a server key (storehook staff token --account-api) with X-Account-ID or X-Account-Token. GET /openapi.json describes
            every path. While the database is unavailable it answers 503 with Retry-After. Apps need TLS: put a proxy in front, or
            give a certificate and its key, which SIGHUP reads again. With --metrics-port, /metrics, /healthz and /readyz are on a
            port of their own. SIGTERM finishes what was begun.

            Example: STOREHOOK_JWT_KEYS=https://login.example.com/jwks.json STOREHOOK_JWT_ISSUER=https://login.example.com \
            STOREHOOK_JWT_AUDIENCE=store storehook serve --port 8081
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var operations: OperationsOptions
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port to listen on; 0 for any free one.") var port = 8081
    @Option(help: "Database connections, 1 to 100.") var connections = 8
    @Option(
        help: ArgumentHelp(
            """
            Memory that this process may take, as 256MiB: long bodies wait beyond a quarter of it. By default the limit of its \
            control group, or 512MiB.
            """, valueName: "bytes"))
    var memory: MemoryAmount?

    @Option(help: "Speak TLS with this certificate: a PEM file, its chain after it (STOREHOOK_TLS_CERTIFICATE).")
    var tlsCertificate: String?
    @Option(help: "The certificate's private key, a PEM file without a passphrase (STOREHOOK_TLS_KEY).")
    var tlsKey: String?

    func validate() throws {
        try (0...65535).check(port, "--port")
        try (1...100).check(connections, "--connections")
        guard memory.map({ $0.bytes >= MemoryLimit.least }) ?? true else {
            throw ValidationError("--memory is less than \(MemoryLimit.least >> 20)MiB: no long receipt could be read.")
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let read = try ServeSettings(settings, tlsCertificate: tlsCertificate, tlsKey: tlsKey)
        let logger = try settings.programLogger("serve")
        let monitoring = try operations.monitoring("serve", settings)
        monitoring?.countProcess()
        let requester = read.checksRevocation ? OCSPRequester() : nil
        let revocation = requester.map { Revocation($0, logger: logger) }
        let apple = read.apple.map { AppleAccess($0, policy: .interactive, revocation: revocation) }
        do {
            try await services(read, monitoring, apple, revocation, logger: logger).run(logger: logger)
            await apple?.shutdown()
            await requester?.shutdown()
        } catch {
            await apple?.shutdown()
            await requester?.shutdown()
            throw error
        }
    }

    /// What it runs.
    func services(
        _ settings: ServeSettings, _ monitoring: ProgramMonitoring?, _ apple: AppleAccess?,
        _ revocation: Revocation? = nil,
        logger: Logger
    ) async throws -> ProgramServices {
        let source = settings.tokenKeys
        let configuration = configuration(settings, logger: logger)
        let pool = PostgresPool(
            configuration: settings.database, size: connections, logger: logger, onError: monitoring?.countError)
        // One for all that this process asks Apple.
        let budget = RateBudget()
        let clients = apple?.clients(budget: budget)
        let events = EventStore(pool)
        let pipeline = EvidencePipeline(pool, ledger: Ledger(policy: settings.status))
        let accounts = pipeline.accounts
        let watchPool = PostgresPool(
            configuration: DatabaseWatch.configuration(like: settings.database), size: 1, logger: logger.quieter)
        let watch = DatabaseWatch(watchPool, logger: logger)
        let reads = AccountReads(accounts, connections: connections, watch: watch)
        let history = History(pool)
        let proven = ProvenAnswers(served: settings.served, logger: logger) { try await history.answerProof() }
        let memory = GuardMemory(
            logger: logger, reading: AccountEnvironmentReads(reads, sandbox: settings.sandbox, proven: proven),
            counting: CounterReads(Usage(pool), connections: connections, watch: watch))
        let handlers = handlers(
            settings, pipeline, reads, clients, apple?.receipts(pool, budget: budget), revocation,
            over: pool, remembering: memory, proven, logger: logger)
        let feed = EventFeed(events, connections: connections, watch: watch, logger: logger)
        let endpoints = AccountEndpoint.withStanding(
            handlers.endpoints + [
                feed.endpoint,
                Guard(memory, outage: settings.guardOutage).endpoint,
                .consumptionConsent(Consents(pool)),
                TestNotificationRoute(clients, Canaries(pool), now: WallClock.now).endpoint,
            ])
        let metrics = APIMetrics(endpoints: endpoints)
        let callerMetrics = CallerMetrics()
        let tokenKeys = TokenKeys(
            source, logger: logger, now: WallClock.now, onRead: { callerMetrics.readKeys($0, $1) })
        // A file that cannot be used and a provider without keys are mistakes of the operator; a provider that is away comes back.
        do {
            try await tokenKeys.read()
        } catch  where source.path != nil || error == .empty {
            throw CommandFailure(
                "\(settings.tokenKeysVariable): \(source.path ?? "what it names") \(error)", status: .usage)
        } catch {}
        let migrator = try Database.migrator()
        let gate = SchemaGate(isOpen: try await Database.requireSchemaIfReachable(pool, for: .api), logger: logger) {
            try await migrator.check(on: pool).misfit
        }
        let ids = AccountIDTable(AccountIDs(pool), setting: settings.accountIDs, logger: logger)
        if gate.whyClosed == nil { try await requireRule(ids) }
        let serverKeys = ServerKeyTable(ServerKeys(pool), logger: logger)
        let api = AccountAPI(
            endpoints, tokenKeys: tokenKeys,
            check: TokenCheck(tokenKeys, settings.tokenRules, ids, now: WallClock.now),
            serverKeys: serverKeys, ids: ids, watch: watch, gate: gate, configuration: configuration, metrics: metrics,
            callerMetrics: callerMetrics, logger: logger
        ) { [host] port in
            logger.info(
                "Listening",
                metadata: ["host": "\(host)", "port": "\(port)", "tls": settings.tls == nil ? "no" : "yes"])
        }
        var services = ProgramServices()
        services.add("the database pool", pool)
        services.add("the watch's connection", watchPool)
        operations.serve(
            monitoring, in: &services, logger: logger, warning: { api.warning }, notReady: { api.whyNotReady })
        if let identity = settings.tls {
            services.add("the certificate's renewal", await CertificateRenewal(of: identity, logger: logger))
        }
        if settings.listens {
            let listener = try PostgresListener(
                configuration: settings.database, channel: AccountStore.channel, logger: logger,
                onPayload: { memory.change($0) })
            services.add("the listener", listener)
            services.add(
                "the listener to events",
                try PostgresListener(
                    configuration: settings.database, channel: EventStore.channel, logger: logger,
                    onPayload: { _ in feed.hint() }))
        }
        services.add("the proof of answers", proven)
        services.add("the feed", feed)
        services.add("the account API", api, portOption: "--port")
        return services
    }

    /// Refuses to start where no account could be named; a database that is away comes back.
    private func requireRule(_ ids: AccountIDTable) async throws {
        do { try await ids.refresh() } catch let error as PostgresError where error.isTransient { return }
        if let why = ids.whyNone { throw CommandFailure(why, status: .usage) }
    }

    /// What answers about accounts.
    private func handlers(
        _ settings: ServeSettings, _ pipeline: EvidencePipeline, _ reads: AccountReads,
        _ clients: AppleClients?, _ receipts: ReceiptIntake?,
        _ revocation: Revocation?, over pool: PostgresPool, remembering memory: GuardMemory, _ proven: ProvenAnswers,
        logger: Logger
    ) -> AccountHandlers {
        let verifier = Verifier(
            configuration: settings.verifier, revocation: revocation?.cache, clock: WallClock.now)
        let intake = EvidenceIntake(
            pool: pool, verifier: verifier, pipeline: pipeline, revocation: revocation?.checker, logger: logger)
        // Without a connection to Apple, a receipt's signature still proves the owner of a known purchase.
        var settle: (@Sendable () async -> Void)?
        if let checker = revocation?.checker { settle = { _ = await checker.sendPendingRequests() } }
        let unasked = ReceiptIntake(verifier, apps: [], history: History(pool), settleRevocation: settle)
        var refresh: AccountRefresh?
        if let clients, !clients.scopes.isEmpty { refresh = AccountRefresh(History(pool), clients) }
        return AccountHandlers(
            pipeline: pipeline, reads: reads, intake: intake, usage: Usage(pool),
            rule: settings.restore,
            sandbox: settings.sandbox, proven: proven, receipts: receipts ?? unasked, refresh: refresh,
            log: AccountLog(logger), onChange: { memory.change($0) })
    }

    private func configuration(_ settings: ServeSettings, logger: Logger) -> APIConfiguration {
        let limit = memory?.bytes ?? MemoryLimit.ofControlGroup() ?? MemoryLimit.usual
        var configuration = APIConfiguration(host: host, port: port, memory: limit)
        configuration.http.tls = settings.tls
        configuration.http.trustedProxies = settings.proxies
        configuration.http.maximumConnectionsPerAddress = settings.connectionsPerAddress
        configuration.cors = settings.cors
        (configuration.callerRate, configuration.addressRate) = settings.rates
        OpenFiles.fit(&configuration.http, logger: logger)
        return configuration
    }
}

extension Logger {
    /// A logger for messages that repeat others: the pool already logs that the database is unavailable.
    fileprivate var quieter: Logger {
        var logger = self
        logger.logLevel = .critical
        return logger
    }
}
