import AppStorePayloads
import AppStoreVerification
import ArgumentParser
import Base
import EvidenceStore
import Foundation
import Glibc
import Logging
import Postgres
import PurchaseStore
import ServiceLifecycle
import Subscriptions
import UnixSignals
import Worker

/// A worker as `storehook work` runs it, for which chosen rows are poison: what a payload could do that finds a fault of
/// ours is done by hand, as none is known that does.
struct PoisonedWorker: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "poisoned-worker",
        abstract: "A worker that dies of, hangs on, or is swollen by chosen rows.",
        discussion: """
            Reads DATABASE_URL; serves the app and trusts the root that it is told.

            Example: storehook-bench poisoned-worker --trusted-root HEX --trap 17 --endless 42
            """,
        shouldDisplay: false)

    @Option(help: "Outbox ids that trap.") var trap: [Int64] = []
    @Option(help: "Outbox ids whose verification never ends.") var endless: [Int64] = []
    @Option(help: "Outbox ids that take memory without end; the process is given 4 GiB of address space.")
    var swell: [Int64] = []
    @Option(help: "The app served, as in STOREHOOK_APPS.") var app = "com.example.storehook"
    @Option(help: "Its App Apple ID.") var appAppleID: Int64 = 1_234_567_890
    @Option(help: "SHA-256 of the trusted root.") var trustedRoot: String
    @Option(help: "Seconds that a claim lasts.") var lease = 5
    @Option(help: "Claims until a row is buried.") var attempts = 2
    @Option(help: "Notifications claimed at a time.") var batch = 100

    func run() async throws {
        guard let url = ProcessInfo.processInfo.environment["DATABASE_URL"], let root = Fingerprint(trustedRoot) else {
            throw ValidationError("needs DATABASE_URL and a fingerprint of 64 hexadecimal digits")
        }
        if !swell.isEmpty {
            var limit = rlimit(rlim_cur: 4 << 30, rlim_max: 4 << 30)
            setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        }
        let logger = Logger(label: "worker") { StreamLogHandler.standardError(label: $0) }
        let database = try PostgresConfiguration(url: url)
        let pool = PostgresPool(configuration: database, size: 2, logger: logger)
        let listener = try PostgresListener(configuration: database, channel: Outbox.table.channel, logger: logger)
        let worker = Worker(
            pool: pool,
            verifier: Verifier(configuration: VerifierConfiguration(apps: [app: appAppleID], trustedRoots: [root])) {
                Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1000))
            },
            ledger: Ledger(policy: .usual), listener: listener,
            configuration: WorkerConfiguration(
                name: "poisoned:\(ProcessInfo.processInfo.processIdentifier)", batchSize: batch, lease: .seconds(lease),
                retries: ClaimPolicy(maximumAttempts: attempts), beforeVerifying: act),
            logger: logger)
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: pool), .init(service: listener), .init(service: worker)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await services.run()
    }

    private var act: @Sendable (Int64) -> Void {
        let (trap, endless, swell) = (Set(trap), Set(endless), Set(swell))
        return { id in
            if trap.contains(id) { fatalError("poison: this row traps") }
            while endless.contains(id) {}
            var taken: [[UInt8]] = []
            while swell.contains(id) { taken.append([UInt8](repeating: 1, count: 64 << 20)) }
        }
    }
}
