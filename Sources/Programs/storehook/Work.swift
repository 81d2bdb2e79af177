import AppStorePayloads
import AppStoreVerification
import ArgumentParser
import Foundation
import Ledger
import Logging
import Operations
import Outbox
import Postgres
import Queue
import ServiceLifecycle
import UnixSignals
import Worker

struct Work: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify and apply what the receivers stored.",
        discussion: """
            Run as many as you like, on as many machines. SIGTERM finishes the batch in hand and gives the rest back.
            With --metrics-port it serves /metrics, /healthz and /readyz.

            Example: STOREHOOK_APPS=com.example.app=1234567890 storehook work --metrics-port 9101
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "Notifications claimed at a time, 1 to 1000.") var batch = 100

    @Option(help: "The port to serve /metrics, /healthz and /readyz on; 0 for any free one.") var metricsPort: Int?
    @Option(help: "The address to serve them on.") var metricsHost = "127.0.0.1"

    func validate() throws {
        guard (1...1000).contains(batch) else { throw ValidationError("--batch goes from 1 to 1000") }
        guard (0...65535).contains(metricsPort ?? 0) else {
            throw ValidationError("--metrics-port goes from 0 to 65535")
        }
    }

    func run() async throws {
        let settings = try await shared.settings()
        var logger = try settings.logger("worker")
        let name = "\(ProcessInfo.processInfo.hostName):\(ProcessInfo.processInfo.processIdentifier)"
        logger[metadataKey: "worker"] = "\(name)"
        let trust = try settings.verifier()
        guard !trust.apps.isEmpty else {
            throw CommandFailure(
                "STOREHOOK_APPS names no app; every notification would end as a dead letter. "
                    + "Example: STOREHOOK_APPS=com.example.app=1234567890", status: .usage)
        }
        // Nothing is counted where nobody can ask.
        let monitoring = try metricsPort.map { _ in try ProgramMonitoring("worker", settings) }
        // One to claim, one to apply, one for the maintenance, which may take its time.
        let pool = PostgresPool(
            configuration: try settings.database(), size: 3, logger: logger, onError: monitoring?.countError)
        try await Database.requireCurrentSchema(pool)
        var listener: PostgresListener?
        if try settings.listens() {
            listener = try PostgresListener(
                configuration: try settings.database(), channel: Outbox.table.channel, logger: logger)
        }
        let cache = try settings.checksRevocation() ? RevocationCache() : nil
        let requester = cache.map { _ in OCSPRequester() }
        let worker = Worker(
            pool: pool,
            verifier: Verifier(configuration: trust, revocation: cache, clock: WallClock.now),
            ledger: Ledger(),
            listener: listener,
            revocation: cache.flatMap { requester?.checker(for: $0, logger: logger) },
            configuration: WorkerConfiguration(
                name: name, batchSize: batch, lease: try settings.lease(), retries: try settings.retries()
            ),
            logger: logger)
        let maintenance = MaintenanceService(outbox: Outbox(pool), retention: try settings.retention(), logger: logger)
        logger.info("Serving", metadata: ["apps": "\(trust.apps.keys.sorted().joined(separator: ","))"])
        var services: [any Service] = [pool]
        if let monitoring, let metricsPort {
            // Before the worker, hence stopped after it: its last batch is counted and can still be read.
            services += [
                monitoring.pool,
                monitoring.server(host: metricsHost, port: metricsPort, logger: logger) { worker.whyNotReady },
            ]
        }
        if let listener { services.append(listener) }
        services += [maintenance, worker]
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0) },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        do {
            try await group.run()
            await requester?.shutdown()
        } catch {
            await requester?.shutdown()
            throw error
        }
    }
}
