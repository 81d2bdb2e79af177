import ArgumentParser
import EvidenceStore
import HTTPKit
import Logging
import Operations
import Postgres
import Receiver

struct Receive: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Store what Apple posts to /webhooks/apple.",
        discussion: """
            Answers 200 once a notification is committed, and 503 while the database is unavailable, so that Apple tries again.
            Apple needs TLS: put a proxy in front, or give a certificate and its key, which SIGHUP reads again without
            disturbing anybody. Apple may post to /v1/subscriptions/webhook and /subscription/webhook as well, and to each
            --path. Beside these this port has a /healthz that asks nothing; with --metrics-port, /metrics, /healthz and
            /readyz are on a port of their own, for you and not for the world. SIGTERM finishes what was accepted.

            Example: storehook receive --host 0.0.0.0 --port 443 --tls-certificate chain.pem --tls-key key.pem
            """)

    @OptionGroup var shared: SharedOptions
    @OptionGroup var operations: OperationsOptions
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port to listen on; 0 for any free one.") var port = 8080

    @Option(name: .customLong("path"), help: "Take Apple's posts at this path too; may be repeated.")
    var paths: [String] = []

    @Option(help: "Speak TLS with this certificate: a PEM file, its chain after it (STOREHOOK_TLS_CERTIFICATE).")
    var tlsCertificate: String?
    @Option(help: "The certificate's private key, a PEM file without a passphrase (STOREHOOK_TLS_KEY).")
    var tlsKey: String?

    func validate() throws {
        try (0...65535).check(port, "--port")
        for path in paths {
            // What App Store Connect takes in a URL and what no proxy rewrites.
            guard path.wholeMatch(of: /(?:\/[A-Za-z0-9._~-]+)+/) != nil, !path.split(separator: "/").contains("..")
            else {
                throw ValidationError("--path must be like /webhooks/apple: letters, digits, - . _ ~ between slashes")
            }
            guard path != "/healthz" else { throw ValidationError("--path /healthz is taken: the port answers there") }
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        let read = try ReceiveSettings(settings, tlsCertificate: tlsCertificate, tlsKey: tlsKey)
        let logger = try settings.programLogger("receiver")
        let monitoring = try operations.monitoring("receiver", settings)
        monitoring?.countProcess()
        try await services(read, monitoring, logger: logger).run(logger: logger)
    }

    /// What it runs.
    func services(
        _ settings: ReceiveSettings, _ monitoring: ProgramMonitoring?, logger: Logger
    ) async throws -> ProgramServices {
        // Three connections at once: one stores a group of notifications, one notifies workers of the group before it,
        // and one reads the headers of signatures.
        let pool = PostgresPool(
            configuration: settings.database, size: 3, logger: logger, onError: monitoring?.countError)
        let migrator = try Database.migrator()
        let gate = SchemaGate(isOpen: try await Database.requireSchemaIfReachable(pool, for: .receiver), logger: logger)
        {
            try await migrator.check(on: pool).misfit
        }
        var configuration = ReceiverConfiguration(host: host, port: port)
        configuration.paths += Set(paths).subtracting(configuration.paths).sorted()
        configuration.http.tls = settings.tls
        configuration.http.trustedProxies = settings.proxies
        configuration.http.maximumConnectionsPerAddress = settings.connectionsPerAddress
        OpenFiles.fit(&configuration.http, logger: logger)
        let receiver = Receiver(outbox: Outbox(pool), gate: gate, configuration: configuration, logger: logger) {
            [host] port in
            logger.info(
                "Listening",
                metadata: ["host": "\(host)", "port": "\(port)", "tls": settings.tls == nil ? "no" : "yes"])
        }
        var services = ProgramServices()
        services.add("the database pool", pool)
        operations.serve(monitoring, in: &services, logger: logger, notReady: { receiver.whyNotReady })
        if let identity = settings.tls {
            services.add("the certificate's renewal", await CertificateRenewal(of: identity, logger: logger))
        }
        services.add("the receiver", receiver, portOption: "--port")
        return services
    }
}
