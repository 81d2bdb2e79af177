import AppStoreVerification
import Ledger
import Logging
import Postgres
import Queue
import ServiceLifecycle
import TestSupport
import Worker

extension Site {
    /// Lets a worker do all there is to do.
    func workOff(trusting roots: Set<Fingerprint>? = nil) async throws {
        let workers = PostgresPool(configuration: database.configuration, size: 2, logger: quiet)
        let worker = Worker(
            pool: workers, verifier: roots.map { verifier(trusting: $0) } ?? verifier, ledger: Ledger(), listener: nil,
            configuration: WorkerConfiguration(
                name: "test",
                retries: RetryPolicy(backoff: Backoff(base: .milliseconds(10), cap: .milliseconds(50))),
                pollInterval: .milliseconds(30)), logger: quiet)
        let group = ServiceGroup(services: [workers, worker], logger: quiet)
        let running = Task { try await group.run() }
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await eventually("the queue is empty") {
                    try await value("select count(*) from storehook.outbox_queue", as: Int64.self) == 0
                })
        } catch { result = .failure(error) }
        await group.triggerGracefulShutdown()
        try await running.value
        try result.get()
    }
}
