import AppStorePayloads
import EvidenceVerification
import Foundation
import Ledger
import Logging
import Outbox
import Postgres
import Queue

/// Applies a prepared batch and settles its rows, in one transaction.
struct BatchSettler: Sendable {
    /// How many rows ended how.
    struct Tally: Sendable, Equatable {
        var applied = 0
        var duplicate = 0
        var parked = 0
        var dead = 0
        var reschedule = 0
        /// Rows that another worker holds by now.
        var lost = 0

        static func + (a: Tally, b: Tally) -> Tally {
            Tally(
                applied: a.applied + b.applied, duplicate: a.duplicate + b.duplicate, parked: a.parked + b.parked,
                dead: a.dead + b.dead, reschedule: a.reschedule + b.reschedule, lost: a.lost + b.lost)
        }
    }

    let pool: PostgresPool
    let ledger: Ledger
    let configuration: WorkerConfiguration
    let watch: Watchdog
    let logger: Logger
    let metrics: WorkerMetrics
    private var outbox: Outbox { Outbox(pool) }

    /// Settles every row one way or another, or leaves it to the lease's end.
    func settle(_ batch: PreparedBatch) async -> Tally {
        let (rescheduled, ready) = batch.split()
        var tally = await reschedule(rescheduled, reason: nil)
        // Beyond the lease the rows are others' to do; the fence would refuse us anyway.
        let deadline = ContinuousClock.now + configuration.lease
        tally = tally + (await settle(ready, before: deadline))
        return tally
    }

    private func settle(_ batch: PreparedBatch, before deadline: ContinuousClock.Instant) async -> Tally {
        guard !batch.rows.isEmpty else { return Tally() }
        var failures = 0
        while true {
            do {
                return try await commit(batch)
            } catch let error as PostgresError where error.isTransient {
                failures += 1
                guard failures < Self.maximumTries else { return await reschedule(batch, reason: ReasonCode(error)) }
                guard ContinuousClock.now < deadline, !Task.isCancelled else {
                    logger.warning("Left a batch to the end of its lease", metadata: ["error": "\(error)"])
                    return Tally(lost: batch.rows.count)
                }
                logger.warning("A batch has to be tried again", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: Self.backoff.pause(afterFailures: failures))
            } catch {
                return await isolate(batch, error, before: deadline)
            }
        }
    }

    /// The database refused the batch for good: find whom it refused by halving, and let the neighbours pass.
    private func isolate(
        _ batch: PreparedBatch, _ error: any Error, before deadline: ContinuousClock.Instant
    ) async -> Tally {
        guard batch.rows.count == 1, let row = batch.rows.first else {
            let (first, second) = batch.halves()
            return await settle(first, before: deadline) + (await settle(second, before: deadline))
        }
        guard case .apply(let entry) = row.verdict else {
            logger.error(
                "A dead letter could not be written",
                metadata: row.logMetadata.merging(["error": "\(error)"]) { _, new in new })
            return await reschedule(batch, reason: .deadLetterRefused)
        }
        let letter = DeadLetterDraft(
            row.claimed, reason: (error as? PostgresError).map { ReasonCode($0) } ?? .applyFailed,
            message: "\(error)", notificationUUID: UUID(entry.notification.uuid),
            type: entry.notification.notificationType.rawValue, subtype: entry.notification.subtype?.rawValue)
        var buried = batch
        buried.rows[0].verdict = .bury(letter)
        return await settle(buried, before: deadline)
    }

    /// One transaction: take the rows that are still ours, apply them, write what became of them. Either all of it
    /// stands afterwards or none.
    private func commit(_ batch: PreparedBatch) async throws -> Tally {
        // Past the lease the rows are others' to do, so a worker that stands still must not hold their locks any longer.
        let options = TransactionOptions(idleTimeout: configuration.lease, name: "settle")
        let done = try await pool.withTransaction(options) { session in
            let held = try Outbox.table.acknowledge(batch.ids, token: batch.token, session)
            let rows = batch.rows.filter { held.contains($0.claimed.id) }
            let entries = rows.compactMap { row -> LedgerEntry? in
                if case .apply(let entry) = row.verdict { entry } else { nil }
            }
            let letters = rows.compactMap { row -> DeadLetterDraft? in
                if case .bury(let letter) = row.verdict { letter } else { nil }
            }
            let (outcomes, _) = try watch.during(held) { try ledger.apply(entries, session) }
            let duplicates = zip(entries, outcomes).filter { $1 == .duplicate }.map(\.0)
            try Outbox.recordDuplicates(
                duplicates.map { ($0.outboxID, UUID($0.notification.uuid)) }, session)
            try Outbox.bury(letters, session)
            let tally = Tally(
                applied: outcomes.count { $0 == .applied }, duplicate: duplicates.count,
                parked: outcomes.count { $0 == .parked }, dead: letters.count, lost: batch.rows.count - rows.count)
            let end = (try Outbox.clock(session), ContinuousClock.now)
            return (tally: tally, rows: rows, entries: entries, outcomes: outcomes, letters: letters, end: end)
        }
        // Asked inside the transaction, where it costs no connection; what the commit itself took is measured here.
        let committed = done.end.0.adding(ContinuousClock.now - done.end.1)
        metrics.settled(done.entries, done.outcomes, done.letters, at: committed)
        log(done.rows, done.outcomes)
        return done.tally
    }

    /// A line for each notification that was settled. Whoever posts junk decides how many letters there are, so of those
    /// only some are told here; all of them are in the table.
    private func log(_ rows: [PreparedBatch.Row], _ outcomes: [LedgerOutcome]) {
        if logger.logLevel <= .debug {
            let applied = rows.filter { if case .apply = $0.verdict { true } else { false } }
            for (row, outcome) in zip(applied, outcomes) {
                logger.debug(
                    "Settled a notification",
                    metadata: row.logMetadata.merging(["outcome": "\(outcome.rawValue)"]) { _, new in new })
            }
        }
        var told = 0
        for row in rows {
            guard case .bury(let letter) = row.verdict else { continue }
            told += 1
            guard told <= Self.lettersTold else { return }
            logger.warning(
                "Buried a notification",
                metadata: row.logMetadata.merging(
                    ["category": "\(letter.category.rawValue)", "reason": "\(letter.reason.rawValue)"]) { _, new in new
                    })
        }
    }

    /// Puts rows off by the retry policy; `reason` where the rows do not say themselves.
    private func reschedule(_ batch: PreparedBatch, reason: ReasonCode?) async -> Tally {
        var byReason: [ReasonCode: [PreparedBatch.Row]] = [:]
        for row in batch.rows {
            if case .reschedule(let own) = row.verdict {
                byReason[reason ?? own, default: []].append(row)
            } else if let reason {
                byReason[reason, default: []].append(row)
            }
        }
        var tally = Tally()
        for (reason, rows) in byReason {
            let delays = rows.map { configuration.retries.backoff.pause(afterFailures: $0.claimed.attempts) }
            do {
                try await outbox.queue.reschedule(
                    rows.map(\.claimed.id), by: delays, reason: reason.rawValue, token: batch.token)
                metrics.reschedule(rows.count, reason: reason)
                for row in rows {
                    logger.debug(
                        "Put a notification off",
                        metadata: row.logMetadata.merging(["reason": "\(reason.rawValue)"]) { _, new in new })
                }
                tally.reschedule += rows.count
            } catch {
                // The lease runs out and they fall due by themselves.
                logger.warning("Could not put rows off", metadata: ["error": "\(error)", "rows": "\(rows.count)"])
                tally.lost += rows.count
            }
        }
        return tally
    }

    /// Transient failures of one batch in a row until it is put off.
    private static let maximumTries = 12
    private static let backoff = Backoff(base: .milliseconds(50), cap: .seconds(2))
    /// Letters of one batch that get a line each.
    private static let lettersTold = 10
}

extension PreparedBatch {
    /// Rows to put off, and rows to settle.
    fileprivate func split() -> (rescheduled: PreparedBatch, ready: PreparedBatch) {
        var rescheduled = PreparedBatch(token: token, rows: [])
        var ready = rescheduled
        for row in rows {
            if case .reschedule = row.verdict { rescheduled.rows.append(row) } else { ready.rows.append(row) }
        }
        return (rescheduled, ready)
    }

    fileprivate func halves() -> (PreparedBatch, PreparedBatch) {
        let middle = rows.count / 2
        return (
            PreparedBatch(token: token, rows: Array(rows[..<middle])),
            PreparedBatch(token: token, rows: Array(rows[middle...]))
        )
    }
}
