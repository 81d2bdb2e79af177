import AccountStore
import AppStorePayloads
import Base
import EventStore
import EvidenceStore
import Foundation
import Logging
import Pipeline
import Postgres
import PurchaseStore
import Synchronization

/// Applies a prepared batch and settles its rows, in one transaction.
final class BatchSettler: Sendable {
    /// How many rows had each outcome.
    struct Tally: Sendable, Equatable {
        var applied = 0
        var duplicate = 0
        var parked = 0
        var dead = 0
        var reschedule = 0
        /// Rows that another worker holds by now.
        var lost = 0

        /// Rows that were settled.
        var settled: Int { applied + duplicate + parked + dead }

        static func + (a: Tally, b: Tally) -> Tally {
            Tally(
                applied: a.applied + b.applied, duplicate: a.duplicate + b.duplicate, parked: a.parked + b.parked,
                dead: a.dead + b.dead, reschedule: a.reschedule + b.reschedule, lost: a.lost + b.lost)
        }
    }

    /// The outcome of a batch.
    struct Settlement: Sendable {
        var tally = Tally()
        /// The fault of the deployment that kept rows from being settled; nil if none.
        var obstacle: String?
        /// How long to leave the queue alone, since no row of the batch could be settled.
        var pause: Duration?
    }

    /// A row that the database refused, and not permanently as far as the row alone shows.
    private struct Refused {
        var row: PreparedBatch.Row
        var error: PostgresError
        /// Whether it was tried alone, so that no other row can be to blame.
        var isAlone: Bool

        /// Whether a retry may succeed without a repair, and the row itself may be the cause of the failure.
        var isPassing: Bool { isAlone && error.isTransient && error.mayBeOfOneRow }
    }

    /// The outcome of a part of a batch.
    private struct Part {
        var tally = Tally()
        var refused: [Refused] = []

        static func + (a: Part, b: Part) -> Part { Part(tally: a.tally + b.tally, refused: a.refused + b.refused) }
    }

    let pool: PostgresPool
    let configuration: WorkerConfiguration
    let watch: Watchdog
    let logger: Logger
    let metrics: WorkerMetrics
    /// How many batches in a row had rows refused for a fault of the deployment.
    private let obstructed = Atomic(0)
    private let pipeline: EvidencePipeline
    private let clock: EventClock?
    private var outbox: Outbox { Outbox(pool) }

    init(
        pool: PostgresPool, pipeline: EvidencePipeline, configuration: WorkerConfiguration, watch: Watchdog,
        logger: Logger,
        metrics: WorkerMetrics, clock: EventClock? = nil
    ) {
        self.pool = pool
        self.clock = clock
        self.pipeline = pipeline
        self.configuration = configuration
        self.watch = watch
        self.logger = logger
        self.metrics = metrics
    }

    /// Settles every row in some way while its lease lasts: a living worker lets no row lapse, since a row whose lease
    /// runs out counts as one that may have killed its worker.
    func settle(_ batch: PreparedBatch) async -> Settlement {
        let (rescheduled, ready) = batch.split()
        let tally = await reschedule(rescheduled, reason: nil)
        // The rest of the lease is for putting off rows that could not be settled.
        let deadline = batch.leaseEnd - min(Self.reserve, configuration.lease / 6)
        var part = await settle(ready, before: deadline, tries: Self.triesTogether)
        part.tally = part.tally + tally
        return await conclude(part, of: batch, before: deadline)
    }

    /// - Parameter tries: after how many transient faults that one row may have caused each half of the batch is tried
    ///   alone.
    private func settle(_ batch: PreparedBatch, before deadline: ContinuousClock.Instant, tries: Int) async -> Part {
        guard !batch.rows.isEmpty else { return Part() }
        // A third of the time left, so that enough is left for the halves, and for theirs.
        let share = max((deadline - .now) / 3, min(Self.leastShare, configuration.lease / 30))
        let end = ContinuousClock.now + share
        var failures = 0
        while true {
            do {
                return Part(tally: try await commit(batch, within: max(end - .now, .milliseconds(1))))
            } catch let error as PostgresError where error.isTransient {
                failures += 1
                let isLast =
                    error.mayBeOfOneRow
                    ? failures >= tries || ContinuousClock.now >= end
                    : failures >= Self.maximumTries || ContinuousClock.now >= deadline
                guard !Task.isCancelled, ContinuousClock.now < batch.leaseEnd else {
                    logger.warning("Left a batch to the end of its lease", metadata: ["error": "\(error)"])
                    return Part(tally: Tally(lost: batch.rows.count))
                }
                guard !isLast else {
                    if error.mayBeOfOneRow, batch.rows.count > 1 {
                        return await isolate(batch, error, before: deadline)
                    }
                    return refused(batch, error, isAlone: batch.rows.count == 1)
                }
                logger.warning("A batch has to be tried again", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: Self.backoff.pause(afterFailures: failures))
            } catch let error as UnreadableCatalog {
                // No row is to blame: a newer release's catalog needs a newer worker.
                return refused(batch, PostgresError(.unsupported, error.description), isAlone: true)
            } catch {
                return await isolate(batch, error, before: deadline)
            }
        }
    }

    private func refused(_ batch: PreparedBatch, _ error: PostgresError, isAlone: Bool) -> Part {
        Part(refused: batch.rows.map { Refused(row: $0, error: error, isAlone: isAlone) })
    }

    /// The database refused the batch: finds the refused rows by halving, and settles the others.
    private func isolate(
        _ batch: PreparedBatch, _ error: any Error, before deadline: ContinuousClock.Instant
    ) async -> Part {
        guard batch.rows.count == 1, let row = batch.rows.first else {
            let passing = (error as? PostgresError).flatMap { $0.isTransient ? $0 : nil }
            let (first, second) = batch.halves()
            var part = Part()
            for half in [first, second] {
                // Once the time is up, rows not yet tried alone are put off with the rest.
                if let passing, ContinuousClock.now >= deadline {
                    part = part + refused(half, passing, isAlone: false)
                } else {
                    part = part + (await settle(half, before: deadline, tries: Self.triesApart))
                }
            }
            return part
        }
        if let error = error as? PostgresError, error.sqlState?.isDeploymentFault == true {
            return refused(batch, error, isAlone: true)
        }
        guard let buried = batch.burying(row, for: error) else {
            logger.error(
                "A dead letter could not be written",
                metadata: row.logMetadata.merging(["error": "\(error)"]) { _, new in new })
            return Part(tally: await reschedule(batch, reason: .deadLetterRefused))
        }
        return await settle(buried, before: deadline, tries: Self.triesApart)
    }

    /// Decides about the refused rows, now that the results of the others are known. A row that fails alone while
    /// others of the batch pass is at fault itself:
    /// - if the fault is transient, as with a lock that another session holds, it is put off by the retry policy, and
    ///   the attempt counts;
    /// - if not, and it is the only one, it becomes a dead letter like anything that the database refuses: an index
    ///   may be broken in the one place that it touches.
    ///
    /// In other cases, and where rights or tables are missing, no row becomes a dead letter and no attempt counts,
    /// however long it takes until an operator fixes it.
    private func conclude(
        _ part: Part, of batch: PreparedBatch, before deadline: ContinuousClock.Instant
    ) async -> Settlement {
        var part = part
        let passed = part.tally.settled > 0
        if passed {
            let passing = part.refused.filter(\.isPassing)
            part.refused.removeAll(where: \.isPassing)
            for (reason, rows) in Dictionary(grouping: passing, by: { ReasonCode($0.error) }) {
                part.tally = part.tally + (await reschedule(batch.only(rows.map(\.row)), reason: reason))
            }
        }
        guard let first = part.refused.first else {
            obstructed.store(0, ordering: .relaxed)
            return Settlement(tally: part.tally)
        }
        if passed, part.refused.count == 1, first.error.sqlState?.isCatalogueFault == false, !first.error.isTransient,
            let buried = batch.only([first.row]).burying(first.row, for: first.error)
        {
            let last = await settle(buried, before: deadline, tries: Self.triesApart)
            if last.refused.isEmpty { return Settlement(tally: part.tally + last.tally) }
        }
        let pause = Self.obstacles.pause(afterFailures: obstructed.add(1, ordering: .relaxed).newValue)
        let put = await postpone(part.refused, by: pause, of: batch)
        return Settlement(
            tally: part.tally + put, obstacle: "\(first.error)", pause: passed ? nil : pause)
    }

    private func postpone(_ refused: [Refused], by pause: Duration, of batch: PreparedBatch) async -> Tally {
        var tally = Tally()
        for (reason, part) in Dictionary(grouping: refused, by: { ReasonCode($0.error) }) {
            let ids = part.map(\.row.claimed.id)
            tally =
                tally
                + (await puttingOff(ids, for: reason, of: batch) {
                    try await outbox.queue.postpone(
                        ids, by: ids.map { _ in pause }, reason: reason.rawValue, token: batch.token)
                })
        }
        return tally
    }

    /// Puts rows off; repeats that while they are held if the database is unreachable.
    /// - Parameter body: returns how many of them were still held.
    private func puttingOff(
        _ ids: [Int64], for reason: ReasonCode, of batch: PreparedBatch, _ body: () async throws -> Int
    ) async -> Tally {
        var failures = 0
        while true {
            do {
                let held = try await body()
                metrics.reschedule(held, reason: reason)
                return Tally(reschedule: held, lost: ids.count - held)
            } catch let error as PostgresError
                where error.isTransient && !Task.isCancelled && ContinuousClock.now < batch.leaseEnd
            {
                failures += 1
                try? await Task.sleep(for: Self.backoff.pause(afterFailures: failures))
            } catch {
                // The lease runs out, and they become due by that.
                logger.warning("Could not put rows off", metadata: ["error": "\(error)", "rows": "\(ids.count)"])
                return Tally(lost: ids.count)
            }
        }
    }

    /// One transaction: take the rows that are still ours, apply them, write their outcomes. Either all of it is
    /// committed or nothing.
    private func commit(_ batch: PreparedBatch, within limit: Duration) async throws -> Tally {
        // After the lease other workers may claim the rows, so a suspended worker must not hold their locks longer.
        // Some statements keep their plans, and such a plan may be from when a table was nearly empty.
        let options = TransactionOptions(
            deadline: limit, idleTimeout: configuration.lease, goesByIndexes: true, name: "settle")
        let done = try await pool.withTransaction(options) { session in
            let senders = try Outbox.senders(of: batch.ids, token: batch.token, session)
            let held = try Outbox.table.acknowledge(batch.ids, token: batch.token, session)
            let rows = batch.rows.filter { held.contains($0.claimed.id) }
            let entries = rows.compactMap { row -> LedgerEntry? in
                if case .apply(let entry) = row.verdict { entry } else { nil }
            }
            let letters = rows.compactMap { row -> DeadLetterDraft? in
                if case .bury(let letter) = row.verdict { letter } else { nil }
            }
            // No event is written for an instant after the latest evidence applied: a renewal may be queued behind it.
            let applied = try pipeline.apply(
                entries, upTo: rows.map(\.claimed.receivedAt).max(), session, deriving: { try watch.during(held, $0) })
            try Outbox.bury(letters, session)
            let (outcomes, settled) = (applied.change.outcomes, applied.settled)
            let end = (settled.clock, ContinuousClock.now)
            // At the end: other workers with findings about one of these addresses wait for this transaction.
            try Outbox.count(rows.compactMap { $0.finding(from: senders) }, configuration.junk, session)
            let tally = Tally(
                applied: outcomes.count { $0 == .applied }, duplicate: outcomes.count { $0 == .duplicate },
                parked: outcomes.count { $0 == .parked }, dead: letters.count, lost: batch.rows.count - rows.count)
            return (
                tally: tally, rows: rows, entries: entries, outcomes: outcomes, letters: letters, end: end,
                accounts: settled.changed, events: applied.events
            )
        }
        pipeline.accounts.announce(done.accounts)
        if let events = done.events { clock?.wrote(events) }
        // Read inside the transaction, which needs no connection; the duration of the commit is measured here.
        let committed = done.end.0.adding(ContinuousClock.now - done.end.1)
        metrics.settled(done.entries, done.outcomes, done.letters, at: committed)
        log(done.rows, done.outcomes)
        return done.tally
    }

    /// A line for each settled notification. Posters of junk decide how many letters there are, so only some letters
    /// get a line here; all of them are in the table.
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

    /// Puts rows off by the retry policy; `reason` for rows without a reason of their own.
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
        for (code, rows) in byReason {
            // Their own verdict is about the environment where no row was tried.
            let counts = reason != nil || !code.isOfSurroundings
            tally =
                tally
                + (await puttingOff(rows.map(\.claimed.id), for: code, of: batch) {
                    try await putOff(rows.map(\.claimed), for: code, counting: counts, token: batch.token)
                })
            for row in rows {
                logger.debug(
                    "Put a notification off",
                    metadata: row.logMetadata.merging(["reason": "\(code.rawValue)"]) { _, new in new })
            }
        }
        return tally
    }

    /// A row that waits for a header or for the database is not tried meanwhile, so no attempt counts and it is never
    /// given up.
    private func putOff(
        _ rows: [ClaimedNotification], for reason: ReasonCode, counting: Bool, token: UUID
    ) async throws -> Int {
        let ids = rows.map(\.id)
        if counting {
            let delays = rows.map { configuration.retries.schedule.pause(afterFailures: $0.attempts) }
            return try await outbox.queue.reschedule(ids, by: delays, reason: reason.rawValue, token: token)
        }
        let pauses = reason == .headerMissing ? Self.headers : Self.obstacles
        let delays = rows.map { _ in pauses.pause(afterFailures: .max) }
        return try await outbox.queue.postpone(ids, by: delays, reason: reason.rawValue, token: token)
    }

    /// Between two looks for a missing header. It comes with the next notification that is stored whole.
    private static let headers = RetrySchedule.listed([.seconds(60)], jitter: RetrySchedule.halfJitter)
    /// After how many transient failures in a row a batch is put off, where no row of it can be to blame.
    private static let maximumTries = 12
    /// After how many its halves are tried alone, where one of its rows may be to blame: enough for a deadlock.
    private static let triesTogether = 5
    /// Likewise, for a part of a batch.
    private static let triesApart = 2
    /// The most of a lease that is reserved for putting rows off.
    private static let reserve = Duration.seconds(5)
    /// The least time for a transaction, however little is left; less of a short lease.
    private static let leastShare = Duration.seconds(1)
    private static let backoff = RetrySchedule.doubling(from: .milliseconds(50), upTo: .seconds(2))
    /// Between two tries at a database that refuses everything.
    private static let obstacles = RetrySchedule.doubling(
        from: .seconds(1), upTo: .seconds(30), jitter: RetrySchedule.halfJitter)
    /// How many letters of one batch get a line each.
    private static let lettersTold = 10
}

extension PreparedBatch {
    /// Rows to put off, and rows to settle.
    fileprivate func split() -> (rescheduled: PreparedBatch, ready: PreparedBatch) {
        var (rescheduled, ready) = (only([]), only([]))
        for row in rows {
            if case .reschedule = row.verdict { rescheduled.rows.append(row) } else { ready.rows.append(row) }
        }
        return (rescheduled, ready)
    }

    /// The row as a dead letter with the database's error; nil if it is a dead letter already.
    fileprivate func burying(_ row: Row, for error: any Error) -> PreparedBatch? {
        guard case .apply(let entry) = row.verdict else { return nil }
        let letter = DeadLetterDraft(
            row.claimed, reason: (error as? PostgresError).map { ReasonCode($0) } ?? .applyFailed,
            message: "\(error)", notificationUUID: (entry.notification?.uuid).map(UUID.init),
            type: entry.notification?.notificationType.rawValue, subtype: entry.notification?.subtype?.rawValue)
        return only([Row(claimed: row.claimed, verdict: .bury(letter))])
    }

    fileprivate func halves() -> (PreparedBatch, PreparedBatch) {
        let middle = rows.count / 2
        return (only(Array(rows[..<middle])), only(Array(rows[middle...])))
    }

    /// A batch of these rows under the same lease.
    fileprivate func only(_ rows: [Row]) -> PreparedBatch {
        PreparedBatch(token: token, leaseEnd: leaseEnd, rows: rows)
    }
}

extension PostgresError {
    /// Whether one row's statement may have caused it, rather than the connection or the server as a whole. A
    /// statement that took too long may have waited for one row's lock.
    fileprivate var mayBeOfOneRow: Bool {
        switch kind {
        case .server(let state): !state.isServerFault
        case .timeout: true
        case .connection, .cancelled, .decoding, .configuration, .unconfirmed, .unsupported: false
        }
    }
}
