package import AppStoreVerification
import Base
package import EvidenceStore
import Foundation
package import Logging
package import Metrics
package import Pipeline
package import Postgres
package import PurchaseStore
import ServiceLifecycle
import Synchronization

/// Claims notifications, verifies them, applies them and settles them, until it is stopped.
///
/// Any number may run, anywhere: they share nothing but the database.
package final class Worker: Service {
    private let outbox: Outbox
    private let verifier: BatchVerifier
    private let settler: BatchSettler
    private let listener: PostgresListener?
    private let configuration: WorkerConfiguration
    private let logger: Logger
    private let signal = WorkSignal()
    private let floor = Mutex(ClaimFloor())
    private let watch: Watchdog
    private let metrics: WorkerMetrics
    private let obstacles = Mutex(Obstacles())
    private let lastClaim = Mutex<ContinuousClock.Instant?>(nil)

    /// The faults of the deployment as the database last reported them; nil where there is none.
    private struct Obstacles {
        var claiming: String?
        /// What keeps all rows from being settled.
        var settling: (why: String, since: ContinuousClock.Instant)?
        /// What some rows were refused for while others are settled, and when that was last logged.
        var refusing: (why: String, loggedAt: ContinuousClock.Instant)?
    }

    /// A worker.
    /// - Parameters:
    ///   - pool: at least two connections: one batch is claimed while another is applied.
    ///   - listener: signals new rows at once; without it the worker polls.
    ///   - revocation: answers the OCSP questions in the verifier's register.
    ///   - clock: is woken when events were written.
    ///   - tally: where it adds up what it does, for the overview.
    ///   - metrics: where to count.
    package init(
        pool: PostgresPool, verifier: Verifier, ledger: Ledger, listener: PostgresListener?,
        revocation: RevocationChecker? = nil, configuration: WorkerConfiguration, clock: EventClock? = nil,
        tally: WorkTally? = nil, logger: Logger, metrics factory: any MetricsFactory = MetricsSystem.factory
    ) {
        metrics = WorkerMetrics(factory, tally)
        outbox = Outbox(pool)
        watch = Watchdog(limit: configuration.runawayLimit, logger: logger)
        self.verifier = BatchVerifier(
            verifier: verifier, evidence: EvidenceVerifier(verifier, pool), revocation: revocation,
            configuration: configuration, watch: watch, metrics: metrics)
        settler = BatchSettler(
            pool: pool,
            pipeline: EvidencePipeline(pool, ledger: ledger, events: configuration.events),
            configuration: configuration,
            watch: watch, logger: logger, metrics: metrics,
            clock: clock)
        self.listener = listener
        self.configuration = configuration
        self.logger = logger
    }

    /// Whether it is being stopped.
    var isStopping: Bool { signal.isStopped }

    /// How long ago the queue last answered it; nil if it never did. An idle worker looks about once a second, a busy
    /// one after each batch.
    var sinceLastClaim: Duration? { lastClaim.withLock(\.self).map { ContinuousClock.now - $0 } }

    /// The fault that keeps it from its work until an operator fixes it, in the database's words; nil if none.
    var obstacle: String? { obstacles.withLock { $0.claiming ?? $0.settling?.why } }

    /// Whether nothing is settled, as far as this worker sees.
    private var isObstructed: Bool { obstacles.withLock { $0.settling != nil } }

    /// How long its leases last.
    var lease: Duration { configuration.lease }

    /// Works until graceful shutdown: then the current batch is finished, and the batch claimed ahead is released.
    /// - Throws: `PostgresError` where claiming fails for a reason that waiting does not fix, such as a right that the
    ///   login never had.
    package func run() async throws {
        // Logged here and not before: from now on a signal to stop is a graceful one.
        logger.info("Working")
        watch.start()
        defer { watch.stop() }
        try await withThrowingTaskGroup { group in
            if let listener {
                group.addTask { for await _ in listener.wakeUps { self.signal.wake() } }
            }
            defer { group.cancelAll() }
            try await withGracefulShutdownHandler {
                try await work()
            } onGracefulShutdown: {
                self.signal.stop()
            }
        }
    }

    /// While one batch is being applied, the next one is claimed and verified: the database and the cores work at once.
    ///
    /// A suspect is processed alone, so that it takes no other rows along if it kills the process again.
    private func work() async throws {
        var next = try await prepare()
        while let ready = next {
            if signal.isStopped {
                await giveBack(ready)
                return
            }
            switch ready {
            case .verified(let batch) where isObstructed:
                // A batch that is claimed ahead is given back each time, behind what was refused: with enough of that its turn
                // would never come.
                if let pause = report(await settler.settle(batch)) { await signal.rest(for: pause) }
                next = try await prepare()
            case .verified(let batch):
                async let following = prepare()
                let pause = report(await settler.settle(batch))
                next = try await following
                if let pause {
                    if let claimed = next { await giveBack(claimed) }
                    await signal.rest(for: pause)
                    next = try await prepare()
                } else if let claimed = next, claimed.leaseEnd - .now < configuration.lease / 2 {
                    // Settling took so long that the lease of the batch claimed meanwhile would run out.
                    await giveBack(claimed)
                    next = try await prepare()
                }
            case .suspect(let batch):
                if let pause = report(await settler.settle(await verifier.prepare(batch))) {
                    await signal.rest(for: pause)
                }
                next = try await prepare()
            }
        }
    }

    /// Claims the next batch, however long it takes to come, and verifies it unless it is suspect; nil when the worker
    /// is being stopped.
    private func prepare() async throws -> ReadyBatch? {
        var failures = 0
        // A cancelled task's waits end at once: without this check it would spin for ever.
        while !signal.isStopped, !Task.isCancelled {
            let lease = Lease(owner: configuration.name, duration: configuration.lease)
            do {
                let claimed = try await outbox.claim(
                    configuration.batchSize, for: lease, from: floor.withLock { $0.next() })
                floor.withLock { $0.learn(from: claimed) }
                failures = 0
                obstacles.withLock { $0.claiming = nil }
                lastClaim.withLock { $0 = .now }
                if !claimed.rows.isEmpty { metrics.claimed(claimed.rows.count) }
                if claimed.isSuspect {
                    for row in claimed.rows {
                        logger.warning(
                            "Took over a notification whose lease ran out: its worker died, hung, or was ended by it",
                            metadata: ["outbox_id": "\(row.id)", "attempt": "\(row.attempts)"])
                    }
                    // For people who look at the evidence; what cannot be written is in the log.
                    try? await outbox.note(claimed.rows.filter(\.lapsed).map { EvidenceAttempt(vanishedBefore: $0) })
                    return .suspect(claimed)
                }
                if !claimed.rows.isEmpty {
                    let prepared = await verifier.prepare(claimed)
                    await keepHeaders(of: prepared)
                    return .verified(prepared)
                }
                await lookWhetherOthersSettle()
                await signal.wait(atMost: configuration.pollInterval * Double.random(in: 0.5...1))
            } catch let error as PostgresError where error.isTransient || mayPass(error) {
                failures += 1
                // An unreachable database is waited for, and the pool reports it.
                if !error.isTransient { obstacles.withLock { $0.claiming = "\(error)" } }
                // Once per outage, not once a second.
                if failures == 1 { logger.warning("Cannot claim; trying on", metadata: ["error": "\(error)"]) }
                await signal.wait(atMost: Self.claimBackoff.pause(afterFailures: failures))
            }
        }
        return nil
    }

    /// Whether claiming may work again: a trigger that refuses goes, and a right that was there before comes back. A worker that
    /// could never claim has the wrong login, and fails.
    private func mayPass(_ error: PostgresError) -> Bool {
        guard case .server(let state) = error.kind else { return false }
        return !state.isDeploymentFault || sinceLastClaim != nil
    }

    /// A worker that met an obstacle and now finds no row to settle learns only here that it is gone.
    private func lookWhetherOthersSettle() async {
        guard let since = obstacles.withLock({ $0.settling?.since }) else { return }
        guard (try? await outbox.isSettling(since: .now - since)) == true else { return }
        obstacles.withLock { $0.settling = nil }
        logger.notice("Notifications are settled again, or none is refused any more")
    }

    private static let claimBackoff = RetrySchedule.doubling(from: .milliseconds(100), upTo: .seconds(2))

    /// Keeps the verified headers, so that receivers need not store them. There is a new one a few times a year.
    private func keepHeaders(of batch: PreparedBatch) async {
        do {
            try await outbox.keepHeaders(of: batch.verifiedTexts)
        } catch {
            logger.warning(
                "Could not keep a signature's header; notifications are stored whole until then",
                metadata: ["error": "\(error)"])
        }
    }

    private func giveBack(_ batch: ReadyBatch) async {
        do {
            try await outbox.queue.release(batch.ids, token: batch.token, isSuspect: batch.isSuspect)
        } catch {
            logger.warning(
                "Could not give claimed rows back; they fall due when their lease ends",
                metadata: ["error": "\(error)", "rows": "\(batch.ids.count)"])
        }
    }

    /// - Returns: how long to leave the queue alone; nil for not at all.
    private func report(_ settlement: BatchSettler.Settlement) -> Duration? {
        let tally = settlement.tally
        note(settlement)
        metrics.lost(tally.lost)
        let metadata: Logger.Metadata = [
            "applied": "\(tally.applied)", "duplicate": "\(tally.duplicate)", "parked": "\(tally.parked)",
            "dead": "\(tally.dead)", "rescheduled": "\(tally.reschedule)", "lost": "\(tally.lost)",
        ]
        if tally.lost > 0 {
            logger.warning("Lost the lease on rows of a batch; others do them", metadata: metadata)
        } else if tally.dead > 0 {
            logger.warning("Buried notifications: see storehook dead-letters list", metadata: metadata)
        } else {
            logger.debug("Settled a batch", metadata: metadata)
        }
        return settlement.pause
    }

    /// Logs once that nothing is settled, and every ten minutes that something is refused.
    private func note(_ settlement: BatchSettler.Settlement) {
        let (before, isNews) = obstacles.withLock { obstacles in
            let before = obstacles.settling
            if let why = settlement.obstacle {
                obstacles.settling = (why, before?.since ?? .now)
            } else if settlement.isApplying {
                obstacles.settling = nil
            }
            guard let why = settlement.refusal else { return (before, false) }
            if let last = obstacles.refusing, last.why == why, ContinuousClock.now - last.loggedAt <= Self.logsAgain {
                return (before, false)
            }
            obstacles.refusing = (why, .now)
            return (before, true)
        }
        if let obstacle = settlement.obstacle, before == nil {
            logger.error(
                "The database refuses to have notifications settled; they wait, and nothing is buried for it",
                metadata: ["error": "\(obstacle)"])
        } else if before != nil, settlement.obstacle == nil, settlement.isApplying {
            logger.notice("Notifications can be settled again")
        }
        if isNews, let refusal = settlement.refusal {
            logger.warning(
                "The database refuses some notifications while others are settled; they wait, and none is buried for it",
                metadata: ["error": "\(refusal)"])
        }
    }

    private static let logsAgain = Duration.seconds(600)
}
