import AppStorePayloads
import AppStoreVerification
import ArgumentParser
import Foundation
import Ledger
import Logging
import Outbox
import Postgres
import ServiceLifecycle
import UnixSignals
import Worker

struct Work: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify and apply what the receivers stored.",
        discussion: """
            Run as many as you like, on as many machines. SIGTERM finishes the batch in hand and gives the rest back.

            Example: STOREHOOK_APPS=com.example.app=1234567890 storehook work
            """)

    @OptionGroup var shared: SharedOptions
    @Option(help: "Notifications claimed at a time, 1 to 1000.") var batch = 100

    func validate() throws {
        guard (1...1000).contains(batch) else { throw ValidationError("--batch goes from 1 to 1000") }
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
        // One to claim, one to apply.
        let pool = PostgresPool(configuration: try settings.database(), size: 2, logger: logger)
        try await Database.requireCurrentSchema(pool)
        let listener = try PostgresListener(
            configuration: try settings.database(), channel: Outbox.channel, logger: logger)
        let worker = Worker(
            pool: pool,
            verifier: Verifier(configuration: trust, clock: WallClock.now),
            ledger: Ledger(),
            listener: listener,
            configuration: WorkerConfiguration(
                name: name, batchSize: batch, leaseSeconds: try settings.leaseSeconds(), retries: try settings.retries()
            ),
            logger: logger)
        logger.info("Serving", metadata: ["apps": "\(trust.apps.keys.sorted().joined(separator: ","))"])
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: pool), .init(service: listener), .init(service: worker)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await services.run()
    }
}
