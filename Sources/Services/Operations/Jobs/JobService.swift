import Base
package import EvidenceStore
import HTTPKit
package import Logging
import Postgres
import ServiceLifecycle

/// Carries out jobs beside a worker, one at a time, in bounded steps. A job goes on when this worker dies: another one claims it when the
/// lease is over, and what was settled stays settled.
package struct JobService: Service {
    private let jobs: JobStore
    private let rehearsing: @Sendable (DeadLetterFilter) async throws -> ReplayDryRun.Report
    private let name: String
    private let lease: Duration
    private let portion: Int
    private let interval: Duration
    private let logger: Logger

    /// How often a job is claimed before it fails: a rehearsal that ends its worker must not end one after the other.
    private static let policy = ClaimPolicy(
        maximumAttempts: 5, maximumLapses: 3, from: .seconds(1), upTo: .seconds(60))

    /// A service.
    /// - Parameters:
    ///   - rehearse: works out what a replay of letters would do, and changes nothing.
    ///   - name: the worker's, for people who look at leases.
    ///   - portion: how many letters are settled in one transaction.
    ///   - interval: the longest pause between two looks for a job, give or take a quarter.
    package init(
        _ jobs: JobStore, name: String, lease: Duration = .seconds(60), portion: Int = 200,
        interval: Duration = .milliseconds(800), logger: Logger,
        rehearse: @escaping @Sendable (DeadLetterFilter) async throws -> ReplayDryRun.Report
    ) {
        self.jobs = jobs
        rehearsing = rehearse
        self.name = name
        self.lease = lease
        self.portion = portion
        self.interval = interval
        self.logger = logger
    }

    /// Works until graceful shutdown: then the step under way is rolled back, and another worker goes on at once.
    package func run() async throws {
        await repeatUntilShutdown(pause: { interval.jittered }) {
            do {
                while try await work() {}
            } catch {
                if Task.isCancelled { return }
                // The pool reports an unreachable database.
                logger.debug("Could not carry out a job; trying again", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Carries out the next job.
    /// - Returns: whether there was one.
    package func work() async throws -> Bool {
        let lease = Lease(owner: name, duration: lease)
        guard let claimed = try await jobs.claim(for: lease) else { return false }
        if let exhaustion = Self.policy.exhaustion(of: claimed) {
            let why =
                switch exhaustion.cause {
                case .workerGone: "its workers vanished; see their logs"
                case .putOff(let reason): reason ?? "it could not be done"
                }
            try await jobs.end(claimed.id, report: nil, error: why, lease)
            logger.warning("A job failed", metadata: ["job": "\(claimed.id)", "why": "\(why)"])
            return true
        }
        do {
            guard let job = try await jobs.job(claimed.id) else { return true }
            switch job.act {
            case .rehearse: try await rehearse(job, lease)
            case .replay, .discard: try await settle(job, lease)
            }
        } catch {
            await putOff(claimed, lease, after: error)
            throw error
        }
        return true
    }

    private func settle(_ job: Job, _ lease: Lease) async throws {
        let portion = min(portion, job.perSecond ?? portion)
        while true {
            switch try await jobs.step(job.id, lease, portion: portion) {
            case .lost: return
            case .ended:
                logger.info("A job has ended", metadata: ["job": "\(job.id)", "act": "\(job.act.rawValue)"])
                return
            case .more:
                if let rate = job.perSecond {
                    // Given back for so long: a job that takes hours leaves others their turn.
                    let pause = Duration.seconds(portion) / rate
                    _ = try await jobs.queue.postpone([job.id], by: [pause], reason: "paced", token: lease.token)
                    return try await Task.sleep(for: pause)
                }
                try Task.checkCancellation()
            }
        }
    }

    private func rehearse(_ job: Job, _ lease: Lease) async throws {
        guard try await jobs.beginRehearsal(job.id, lease) else { return }
        let letters = try await jobs.letters(of: job.id)
        let report = try await rehearsing(DeadLetterFilter(ids: letters))
        try await jobs.end(
            job.id, report: PostgresJSON(ReplayDryRun.Report.shape.value(of: report).bytes), lease)
    }

    /// Gives a job back: at once where this worker stops, else after a pause, and the attempt counts.
    private func putOff(_ claimed: ClaimedRow<Void>, _ lease: Lease, after error: any Error) async {
        let isStopping = Task.isCancelled
        // In a task of its own: one that was cancelled must give it back, too.
        let giving = Task {
            if isStopping {
                try await jobs.queue.release([claimed.id], token: lease.token)
            } else {
                let pause = Self.policy.schedule.pause(afterFailures: claimed.attempts)
                // The error's text may be long; it names no value.
                try await jobs.queue.reschedule(
                    [claimed.id], by: [pause], reason: String("\(error)".prefix(100)), token: lease.token)
            }
        }
        // Else its lease runs out.
        _ = await giving.result
    }
}
