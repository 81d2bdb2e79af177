import APIKit
import AccountStore
import AdminAPI
import ArgumentParser
import ConsolePages
import HTTPKit
import Logging
import Metrics
import Operations
import Pipeline
import Postgres
import PurchaseStore

struct Console: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show your staff the desk: pages for people, and the admin API.",
        discussion: """
            In a browser, members of the staff log in with a password (storehook staff password EMAIL), or a proxy in front logs them in
            (STOREHOOK_CONSOLE_AUTH). Programs send a token (storehook staff token EMAIL) to the admin API, which GET /admin/openapi.json
            describes. What each may do follows from the role. While the database is unavailable it answers 503 with Retry-After. On another address than this machine's
            own it needs TLS: a certificate and its key, which SIGHUP reads again, or a proxy in front that speaks it (--behind-tls). With
            --metrics-port, /metrics, /healthz and /readyz are on a port of their own. SIGTERM finishes what was begun.

            Example: storehook console --port 8082
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var operations: OperationsOptions
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port to listen on; 0 for any free one.") var port = 8082
    @Option(help: "Database connections, 1 to 100.") var connections = 4
    @Option(help: "Speak TLS with this certificate: a PEM file, its chain after it (STOREHOOK_TLS_CERTIFICATE).")
    var tlsCertificate: String?
    @Option(help: "The certificate's private key, a PEM file without a passphrase (STOREHOOK_TLS_KEY).")
    var tlsKey: String?
    @Flag(help: "A proxy in front speaks TLS, and nothing but the proxy reaches this address.") var behindTls = false

    func validate() throws {
        try (0...65535).check(port, "--port")
        try (1...100).check(connections, "--connections")
    }

    func run() async throws {
        let settings = try await shared.settings()
        let read = try ConsoleSettings(settings, tlsCertificate: tlsCertificate, tlsKey: tlsKey)
        try read.requireTLS(on: host, isBehindTLS: behindTls)
        let logger = try settings.programLogger("console")
        if let fault = read.secretKeyFault {
            logger.warning(
                "The key of endpoints' secrets cannot be used: none is made here", metadata: ["why": "\(fault)"])
        }
        let monitoring = try operations.monitoring("console", settings)
        monitoring?.countProcess()
        try await services(read, monitoring, logger: logger).run(logger: logger)
    }

    /// What it runs.
    private func services(
        _ settings: ConsoleSettings, _ monitoring: ProgramMonitoring?, logger: Logger
    ) async throws -> ProgramServices {
        let pool = PostgresPool(
            configuration: settings.database, size: connections, logger: logger, onError: monitoring?.countError)
        // Why the database is unavailable the pool says.
        var quiet = logger
        quiet.logLevel = .critical
        let watchPool = PostgresPool(
            configuration: DatabaseWatch.configuration(like: settings.database), size: 1, logger: quiet)
        let watch = DatabaseWatch(watchPool, logger: logger)
        let migrator = try Database.migrator()
        var checked = settings.database
        checked.queryTimeout = DatabaseChecks.queryTimeout
        // What the pool would log is what the findings say.
        let checksPool = PostgresPool(configuration: checked, size: 1, logger: quiet)
        let handlers = AdminHandlers(
            pool, EvidencePipeline(pool, ledger: Ledger(policy: settings.status)), accountIDs: settings.accountIDs,
            apps: settings.apps, rules: settings.rules,
            secrets: EndpointSecrets(settings.secretKey, isNamed: settings.secretKeyFault != nil),
            checks: DatabaseChecks(
                pool: checksPool, migrator: migrator, configuration: settings.database,
                storeDeadline: settings.storeDeadline, role: .console, accountIDs: settings.accountIDs,
                apps: settings.apps, namesAccounts: false), logger: logger)
        let endpoints = AdminEndpoint.withStanding(handlers.endpoints)
        let metrics = APIMetrics(endpoints: endpoints)
        let isOpen = try await Database.requireSchemaIfReachable(pool, for: .console)
        if isOpen { try await Database.requireAccountIDs(pool, settings.accountIDs) }
        let gate = SchemaGate(isOpen: isOpen, logger: logger) { try await migrator.check(on: pool).misfit }
        let staff = StaffMembers(pool)
        let configuration = configuration(settings, logger: logger)
        let visitors = Visitors(settings.way, isSecure: settings.tls != nil || behindTls, pool, logger: logger)
        let pages = try PageSite(
            endpoints, visitors, pool, watch: watch, gate: gate, configuration: PageConfiguration(configuration),
            logger: logger)
        let api = AdminAPI(
            endpoints, staff, StaffTokenTable(staff, logger: logger), ForbiddenTries(pool), feed: handlers.feed,
            watch: watch, gate: gate, sessions: visitors, beside: pages.routes, configuration: configuration,
            metrics: metrics, logger: logger
        ) { [host] port in
            logger.info(
                "Listening",
                metadata: ["host": "\(host)", "port": "\(port)", "tls": settings.tls == nil ? "no" : "yes"])
        }
        var services = ProgramServices()
        services.add("the database pool", pool)
        services.add("the watch's connection", watchPool)
        services.add("the checks' connection", checksPool)
        operations.serve(monitoring, in: &services, logger: logger, notReady: { api.whyNotReady })
        if let identity = settings.tls {
            services.add("the certificate's renewal", await CertificateRenewal(of: identity, logger: logger))
        }
        services.add("the console", api, portOption: "--port")
        return services
    }

    private func configuration(_ settings: ConsoleSettings, logger: Logger) -> APIConfiguration {
        var configuration = APIConfiguration.admin(
            host: host, port: port, memory: MemoryLimit.ofControlGroup() ?? MemoryLimit.usual)
        configuration.http.tls = settings.tls
        configuration.http.trustedProxies = settings.proxies
        configuration.http.maximumConnectionsPerAddress = settings.connectionsPerAddress
        (configuration.callerRate, configuration.addressRate) = settings.rates
        configuration.prefix = settings.path
        OpenFiles.fit(&configuration.http, logger: logger)
        return configuration
    }
}
