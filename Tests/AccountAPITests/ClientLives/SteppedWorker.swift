import AccountStore
import AppStoreVerification
import EventStore
import EvidenceStore
import Metrics
import Pipeline
import Postgres
import TestSupport

@testable import Worker

/// A worker without a loop: it does all there is to do where a test says so, at the database's present instant.
struct SteppedWorker: Sendable {
    private let outbox: Outbox
    private let verifier: BatchVerifier
    private let settler: BatchSettler
    private let clock: EventClock

    init(_ pool: PostgresPool, trusting verifier: Verifier) {
        let configuration = WorkerConfiguration(name: "test")
        let (metrics, watch) = (WorkerMetrics(MetricsSystem.factory), Watchdog(limit: .seconds(60), logger: quiet))
        outbox = Outbox(pool)
        clock = EventClock(EventStore(pool), AccountStore(pool), outbox, logger: quiet, metrics: EventMetrics())
        self.verifier = BatchVerifier(
            verifier: verifier, evidence: EvidenceVerifier(verifier, pool), revocation: nil,
            configuration: configuration, watch: watch, metrics: metrics)
        settler = BatchSettler(
            pool: pool, pipeline: EvidencePipeline(pool), configuration: configuration, watch: watch, logger: quiet,
            metrics: metrics, clock: clock)
    }

    /// Stores posts, as a receiver does, and applies them.
    func hear(_ posts: [String]) async throws {
        guard !posts.isEmpty else { return }
        try await outbox.store(posts.map { Array($0.utf8) })
        while true {
            let claimed = try await outbox.claim(100, for: Lease(owner: "test", duration: .seconds(60)))
            guard !claimed.rows.isEmpty else { return }
            let settlement = await settler.settle(await verifier.prepare(claimed))
            let tally = settlement.tally
            guard settlement.pause == nil, tally.dead == 0, tally.reschedule == 0, tally.lost == 0 else {
                throw NeverHappened("a worker settles all there is: \(settlement)")
            }
        }
    }
}
