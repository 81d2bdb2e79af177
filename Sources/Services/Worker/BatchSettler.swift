import AppStorePayloads
import Base
import EvidenceStore
import Foundation
import Logging
import Pipeline
import Postgres
import PurchaseStore
import Synchronization

/// Settles every row of a prepared batch in some way, and decides about those that PostgreSQL refuses.
final class BatchSettler: Sendable {
    /// The outcome of a batch.
    struct Settlement: Sendable {
        var tally = BatchTally()
        /// What keeps all rows from being applied, as far as this worker sees; nil where rows are applied, or nothing
        /// was to be settled.
        var obstacle: String?
        /// What some rows were refused for while others are applied; nil if none was.
        var refusal: String?
        /// Whether rows are applied, here or by another worker.
        var isApplying = false
        /// How long to leave the queue alone, since no row of the batch could be settled.
        var pause: Duration?
    }

    private let configuration: WorkerConfiguration
    private let logger: Logger
    private let commit: BatchCommit
    private let outbox: Outbox
    private let puttingOff: PuttingOff
    /// How many batches in a row met an obstacle.
    private let obstructed = Atomic(0)

    init(
        pool: PostgresPool, pipeline: EvidencePipeline, configuration: WorkerConfiguration, watch: Watchdog,
        logger: Logger,
        metrics: WorkerMetrics, clock: EventClock? = nil
    ) {
        self.configuration = configuration
        self.logger = logger
        commit = BatchCommit(
            pool: pool, pipeline: pipeline, configuration: configuration, watch: watch, logger: logger,
            metrics: metrics, clock: clock, lives: LifeLog(logger, every: configuration.lineInterval))
        outbox = Outbox(pool)
        puttingOff = PuttingOff(
            outbox: outbox, configuration: configuration, logger: logger, metrics: metrics)
    }

    /// Settles every row in some way while its lease lasts: a living worker lets no row lapse, since a row whose lease
    /// runs out counts as one that may have killed its worker.
    func settle(_ batch: PreparedBatch) async -> Settlement {
        let (rescheduled, ready) = batch.split()
        let tally = await puttingOff.reschedule(rescheduled)
        // The rest of the lease is for putting off rows that could not be settled.
        let deadline = batch.leaseEnd - min(Self.reserve, configuration.lease / 6)
        var trial = trial(before: deadline)
        await trial.settle(ready)
        var settlement = await conclude(trial, of: batch, before: deadline)
        settlement.tally += tally
        return settlement
    }

    private func trial(before deadline: ContinuousClock.Instant) -> BatchTrial {
        BatchTrial(configuration: configuration, logger: logger, deadline: deadline) { [commit] batch, limit in
            try await commit(batch, within: limit)
        }
    }

    /// Decides about the refused rows, now that the results of the others are known. A row that is held up alone while
    /// others of the batch are settled, as by a lock of another session, is put off by the retry policy, and the
    /// attempt counts. The rest is decided by ``RefusalVerdict``.
    private func conclude(
        _ trial: BatchTrial, of batch: PreparedBatch, before deadline: ContinuousClock.Instant
    ) async -> Settlement {
        var settlement = Settlement(tally: trial.tally)
        settlement.isApplying = trial.tally.recorded > 0
        var refused = trial.refused
        if trial.tally.settled > 0 {
            let passing = Dictionary(grouping: refused.filter(\.isPassing), by: \.reason)
            refused.removeAll(where: \.isPassing)
            for (reason, rows) in passing {
                settlement.tally += await puttingOff.count(batch.only(rows.map(\.row)), for: reason)
            }
        }
        guard !refused.isEmpty else {
            obstructed.store(0, ordering: .relaxed)
            return settlement
        }
        var notes = await notes(about: refused, after: trial.firstRefusal ?? .now, of: batch)
        for id in notes.keys {
            // What this batch came to is known without asking.
            if trial.since.settled > 0 { notes[id]?.areOthersSettled = true }
            if trial.since.recorded > 0 { notes[id]?.areOthersApplied = true }
        }
        // The note of the row that was refused last says whether anything is applied now.
        let latest = notes.values.min { $0.age < $1.age }
        settlement.isApplying = settlement.isApplying || latest?.areOthersApplied == true
        if settlement.isApplying {
            settlement.refusal = refused.first { !$0.isItsOwn }.map { "\($0.error)" }
        } else {
            // One row by itself says nothing about others.
            settlement.obstacle = refused.first { !$0.isItsOwn || notes[$0.id]?.hasSecond == true }.map {
                "\($0.error)"
            }
        }
        var pause = Duration.zero
        if settlement.obstacle == nil {
            obstructed.store(0, ordering: .relaxed)
        } else {
            pause = Self.obstacles.pause(afterFailures: obstructed.add(1, ordering: .relaxed).newValue)
            if trial.tally.settled == 0 { settlement.pause = pause }
        }
        let schedule = configuration.retries.schedule
        let verdicts = refused.map { row in
            RefusalVerdict(
                about: row, isSpent: schedule.isSpent(afterFailures: row.row.claimed.attempts), note: notes[row.id],
                obstacle: pause)
        }
        settlement.tally += await carryOut(zip(refused, verdicts).map { ($0, $1) }, of: batch, before: deadline)
        return settlement
    }

    /// What the database knows about refused rows; nothing where it cannot be asked.
    private func notes(
        about refused: [RefusedRow], after first: ContinuousClock.Instant, of batch: PreparedBatch
    ) async -> [Int64: RefusalNote] {
        let alone = refused.filter { $0.isAlone && $0.blame != .passing }
        let others = refused.filter { !$0.isAlone || $0.blame == .passing }
        do {
            return try await outbox.note(
                alone.map { Refusal(of: $0.id, $0.error) }, readingAbout: others.map(\.id), after: .now - first,
                token: batch.token,
                // The rest of the lease is for putting the rows off.
                within: max(.milliseconds(100), min((batch.leaseEnd - .now) / 3, .seconds(5))))
        } catch {
            logger.warning("Could not note what the database refuses", metadata: ["error": "\(error)"])
            return [:]
        }
    }

    private func carryOut(
        _ decided: [(row: RefusedRow, verdict: RefusalVerdict)], of batch: PreparedBatch,
        before deadline: ContinuousClock.Instant
    ) async -> BatchTally {
        var tally = BatchTally()
        var letters: [PreparedBatch.Row] = []
        var counted: [ReasonCode: [PreparedBatch.Row]] = [:]
        var waiting: [ReasonCode: [(id: Int64, pause: Duration)]] = [:]
        for (refused, verdict) in decided {
            if refused.isItsOwn, case .bury = refused.row.verdict {
                logger.error(
                    "A dead letter could not be written",
                    metadata: refused.row.logMetadata.merging(["error": "\(refused.error)"]) { _, new in new })
                counted[.deadLetterRefused, default: []].append(refused.row)
                continue
            }
            switch verdict {
            case .bury: letters += refused.buried.map { [$0] } ?? []
            case .count: counted[refused.reason, default: []].append(refused.row)
            case .wait(let limit):
                waiting[refused.reason, default: []].append((refused.id, limit * Double.random(in: 0.5...1)))
            }
        }
        if !letters.isEmpty {
            var burial = trial(before: deadline)
            await burial.settle(batch.only(letters))
            tally += burial.tally
            for refused in burial.refused {
                if refused.isItsOwn {
                    counted[.deadLetterRefused, default: []].append(refused.row)
                } else {
                    waiting[refused.reason, default: []].append((refused.id, Self.obstacles.pause(afterFailures: .max)))
                }
            }
        }
        for (reason, rows) in counted { tally += await puttingOff.count(batch.only(rows), for: reason) }
        for (reason, rows) in waiting { tally += await puttingOff.postpone(rows, for: reason, of: batch) }
        return tally
    }

    /// The most of a lease that is reserved for putting rows off.
    private static let reserve = Duration.seconds(5)
    /// Between two tries at a database that settles nothing. Not for long: all that comes meanwhile waits behind it.
    private static let obstacles = RetrySchedule.doubling(
        from: .seconds(1), upTo: .seconds(10), jitter: RetrySchedule.halfJitter)
}

extension RefusedRow {
    /// The row as a dead letter with the error; nil if it is a dead letter already.
    fileprivate var buried: PreparedBatch.Row? {
        guard case .apply(let entry) = row.verdict else { return nil }
        let letter = DeadLetterDraft(
            row.claimed, reason: reason, message: "\(error)",
            notificationUUID: (entry.notification?.uuid).map(UUID.init),
            type: entry.notification?.notificationType.rawValue, subtype: entry.notification?.subtype?.rawValue,
            bundleID: entry.bundleID)
        return PreparedBatch.Row(claimed: row.claimed, verdict: .bury(letter))
    }
}
