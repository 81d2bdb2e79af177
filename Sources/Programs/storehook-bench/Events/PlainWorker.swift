import AccountStore
import AppStorePayloads
import AppStoreVerification
import ArgumentParser
import Base
import EventStore
import Events
import EvidenceStore
import Foundation
import Logging
import Postgres
import PurchaseStore
import ServiceLifecycle
import Subscriptions
import UnixSignals
import Worker

/// A worker as `storehook work` runs it, except that it can leave out events: the difference is what events cost.
struct PlainWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plain-worker",
        abstract: "A worker that writes events, or does not.",
        discussion: """
            Reads DATABASE_URL; serves the simulator's app and trusts the root that it is told.

            Example: storehook-bench plain-worker --trusted-root HEX --no-telling
            """,
        shouldDisplay: false)

    @Option(help: "SHA-256 of the trusted root.") var trustedRoot: String
    @Option(help: "Notifications claimed at a time.") var batch = 100
    @Flag(inversion: .prefixedNo, help: "Whether it writes events.") var telling = true

    func run() async throws {
        guard let url = ProcessInfo.processInfo.environment["DATABASE_URL"], let root = Fingerprint(trustedRoot) else {
            throw ValidationError("needs DATABASE_URL and a fingerprint of 64 hexadecimal digits")
        }
        let logger = Logger(label: "worker") { StreamLogHandler.standardError(label: $0) }
        let database = try PostgresConfiguration(url: url)
        let pool = PostgresPool(configuration: database, size: 5, logger: logger)
        let listener = try PostgresListener(configuration: database, channel: Outbox.table.channel, logger: logger)
        var configuration = WorkerConfiguration(
            name: "plain:\(ProcessInfo.processInfo.processIdentifier)", batchSize: batch)
        if !telling { configuration.events = nil }
        let clock = EventClock(
            EventStore(pool), AccountStore(pool), Outbox(pool), logger: logger, metrics: EventMetrics())
        let app = (id: "com.example.storehook", number: Int64(1_234_567_890))
        let worker = Worker(
            pool: pool,
            verifier: Verifier(configuration: VerifierConfiguration(apps: [app.id: app.number], trustedRoots: [root])) {
                Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
            },
            ledger: Ledger(policy: .usual), listener: listener, configuration: configuration,
            clock: telling ? clock : nil, logger: logger)
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: pool), .init(service: listener), .init(service: worker),
        ]
        if telling { services.append(.init(service: clock)) }
        try await ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        ).run()
    }
}
