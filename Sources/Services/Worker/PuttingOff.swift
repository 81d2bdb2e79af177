import Base
import EvidenceStore
import Foundation
import Logging
import Postgres

/// Puts claimed rows off; repeats that while they are held if the database is unreachable.
struct PuttingOff: Sendable {
    let outbox: Outbox
    let configuration: WorkerConfiguration
    let logger: Logger
    let metrics: WorkerMetrics

    private var queue: Queue { outbox.queue }

    /// Puts the rows off that have that verdict, by the retry policy.
    func reschedule(_ batch: PreparedBatch) async -> BatchTally {
        var byReason: [ReasonCode: [PreparedBatch.Row]] = [:]
        for row in batch.rows {
            if case .reschedule(let reason) = row.verdict { byReason[reason, default: []].append(row) }
        }
        var tally = BatchTally()
        for (reason, rows) in byReason {
            tally += await putOff(
                batch.only(rows), for: reason,
                // Their verdict is about the environment where no row was tried.
                counting: !reason.isOfSurroundings)
        }
        return tally
    }

    /// Puts all of the rows off by the retry policy; the attempt counts.
    func count(_ batch: PreparedBatch, for reason: ReasonCode) async -> BatchTally {
        guard !batch.rows.isEmpty else { return BatchTally() }
        return await putOff(batch, for: reason, counting: true)
    }

    /// Puts each of the rows off by its pause; no attempt counts.
    func postpone(_ rows: [(id: Int64, pause: Duration)], for reason: ReasonCode, of batch: PreparedBatch) async
        -> BatchTally
    {
        let ids = rows.map(\.id)
        return await repeating(ids, for: reason, of: batch) {
            try await queue.postpone(ids, by: rows.map(\.pause), reason: reason.rawValue, token: batch.token)
        }
    }

    /// A row that waits for a header or for the database is not tried meanwhile, so no attempt counts and it is never
    /// given up.
    private func putOff(_ batch: PreparedBatch, for reason: ReasonCode, counting: Bool) async -> BatchTally {
        for row in batch.rows {
            logger.debug(
                "Put a notification off",
                metadata: row.logMetadata.merging(["reason": "\(reason.rawValue)"]) { _, new in new })
        }
        let ids = batch.ids
        guard counting else {
            let pauses = reason == .headerMissing ? Self.headers : Self.obstacles
            return await postpone(ids.map { ($0, pauses.pause(afterFailures: .max)) }, for: reason, of: batch)
        }
        let schedule = configuration.retries.schedule
        let delays = batch.rows.map { schedule.pause(afterFailures: $0.claimed.attempts) }
        let tally = await repeating(ids, for: reason, of: batch) {
            try await queue.reschedule(ids, by: delays, reason: reason.rawValue, token: batch.token)
        }
        // Where some were lost to another worker, it is not known which.
        if tally.reschedule > 0, tally.lost == 0 { await note(batch, reason) }
        return tally
    }

    /// Writes down that these attempts came to nothing, for people who look at one of them.
    private func note(_ batch: PreparedBatch, _ reason: ReasonCode) async {
        do {
            try await outbox.note(
                batch.rows.map {
                    EvidenceAttempt($0.claimed, by: configuration.name, from: batch.claimedAt, reason: reason)
                })
        } catch {
            logger.debug("Could not write attempts down", metadata: ["error": "\(error)"])
        }
    }

    /// - Parameter body: returns how many of them were still held.
    private func repeating(
        _ ids: [Int64], for reason: ReasonCode, of batch: PreparedBatch, _ body: () async throws -> Int
    ) async -> BatchTally {
        var failures = 0
        while true {
            do {
                let held = try await body()
                metrics.reschedule(held, reason: reason)
                return BatchTally(reschedule: held, lost: ids.count - held)
            } catch let error as PostgresError
                where error.isTransient && !Task.isCancelled && ContinuousClock.now < batch.leaseEnd
            {
                failures += 1
                try? await Task.sleep(for: Self.backoff.pause(afterFailures: failures))
            } catch {
                // The lease runs out, and they become due by that.
                logger.warning("Could not put rows off", metadata: ["error": "\(error)", "rows": "\(ids.count)"])
                return BatchTally(lost: ids.count)
            }
        }
    }

    /// Between two tries at a database that refuses everything.
    static let obstacles = RetrySchedule.doubling(
        from: .seconds(1), upTo: .seconds(30), jitter: RetrySchedule.halfJitter)
    /// Between two looks for a missing header. It comes with the next notification that is stored whole.
    private static let headers = RetrySchedule.listed([.seconds(60)], jitter: RetrySchedule.halfJitter)
    private static let backoff = RetrySchedule.doubling(from: .milliseconds(50), upTo: .seconds(2))
}
