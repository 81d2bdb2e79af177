package import AppStoreVerification
import EvidenceStore
package import Postgres
package import PurchaseStore
package import ServiceLifecycle
package import TestSupport
package import Worker

/// A worker that works.
package struct RunningWorker: Sendable {
    /// The worker.
    package let worker: Worker
    /// What it runs in.
    package let services: ServiceGroup

    /// Runs a worker while `body` lasts, and then stops it gracefully.
    /// - Parameters:
    ///   - ledger: by which rules it derives statuses; those of a purchase that is not waited for by default.
    ///   - listening: it is told of what comes, and does not only look.
    ///   - own: connections to work over, which are closed then; its own by default.
    package static func with<T: Sendable>(
        on database: TestDatabase, trusting verifier: Verifier, _ configuration: WorkerConfiguration,
        ledger: Ledger = Ledger(), listening: Bool = false, pool own: PostgresPool? = nil,
        _ body: (RunningWorker) async throws -> T
    ) async throws -> T {
        let workers = own ?? PostgresPool(configuration: database.configuration, size: 2, logger: quiet)
        let listener =
            listening
            ? try PostgresListener(configuration: database.configuration, channel: Outbox.table.channel, logger: quiet)
            : nil
        let worker = Worker(
            pool: workers, verifier: verifier, ledger: ledger, listener: listener, configuration: configuration,
            logger: quiet)
        var services: [any Service] = [workers]
        if let listener { services.append(listener) }
        services.append(worker)
        let group = ServiceGroup(services: services, logger: quiet)
        let running = Task { try await group.run() }
        let result: Result<T, any Error>
        do { result = .success(try await body(RunningWorker(worker: worker, services: group))) } catch {
            result = .failure(error)
        }
        await group.triggerGracefulShutdown()
        try await running.value
        return try result.get()
    }
}
