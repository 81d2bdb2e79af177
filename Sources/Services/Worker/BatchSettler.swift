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
    /// How many rows ended how.
    struct Tally: Sendable, Equatable {
        var applied = 0
        var duplicate = 0
        var parked = 0
        var dead = 0
        var reschedule = 0
        /// Rows that another worker holds by now.
        var lost = 0

        /// Rows that found their place.
        var settled: Int { applied + duplicate + parked + dead }

        static func + (a: Tally, b: Tally) -> Tally {
            Tally(
                applied: a.applied + b.applied, duplicate: a.duplicate + b.duplicate, parked: a.parked + b.parked,
                dead: a.dead + b.dead, reschedule: a.reschedule + b.reschedule, lost: a.lost + b.lost)
        }
    }

    /// What became of a batch.
    struct Settlement: Sendable {
        var tally = Tally()
        /// What the deployment lacks, so that rows could not be settled; nil if nothing.
        var obstacle: String?
        /// How long to leave the queue alone, since none of the batch could be settled.
        var pause: Duration?
    }

    /// A row that the database refused, and not for good as far as can be told from itself alone.
    private struct Refused {
        var row: PreparedBatch.Row
        var error: PostgresError
        /// Whether it was tried by itself, so that no other row can be to blame.
        var isAlone: Bool

        /// Whether another time may do by itself, and it may be this row that it takes another time for.
        var isPassing: Bool { isAlone && error.isTransient && error.mayBeOfOneRow }
    }

    /// What a part of a batch came to.
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
    /// Batches in a row of which rows were refused for a reason of the deployment.
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

    /// Settles every row one way or another while its lease lasts: a worker that lives lets none of its rows lapse, since a
    /// row whose lease runs out counts as one that may have ended its worker.
    func settle(_ batch: PreparedBatch) async -> Settlement {
        let (rescheduled, ready) = batch.split()
        let tally = await reschedule(rescheduled, reason: nil)
        // What is left of the lease then is for putting off what could not be settled.
        let deadline = batch.leaseEnd - min(Self.reserve, configuration.lease / 6)
        var part = await settle(ready, before: deadline, tries: Self.triesTogether)
        part.tally = part.tally + tally
        return await conclude(part, of: batch, before: deadline)
    }

    /// - Parameter tries: how often a fault that passes, and that one row may be to blame for, is met before each half of the
    ///   batch is tried by itself.
    private func settle(_ batch: PreparedBatch, before deadline: ContinuousClock.Instant, tries: Int) async -> Part {
        guard !batch.rows.isEmpty else { return Part() }
        // A third of what time is left, so that enough is left for its halves, and for theirs.
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
                // No row is to blame: a newer release's catalog waits for a newer worker.
                return refused(batch, PostgresError(.unsupported, error.description), isAlone: true)
            } catch {
                return await isolate(batch, error, before: deadline)
            }
        }
    }

    private func refused(_ batch: PreparedBatch, _ error: PostgresError, isAlone: Bool) -> Part {
        Part(refused: batch.rows.map { Refused(row: $0, error: error, isAlone: isAlone) })
    }

    /// The database refused the batch: find whom it refused by halving, and let the neighbours pass.
    private func isolate(
        _ batch: PreparedBatch, _ error: any Error, before deadline: ContinuousClock.Instant
    ) async -> Part {
        guard batch.rows.count == 1, let row = batch.rows.first else {
            let passing = (error as? PostgresError).flatMap { $0.isTransient ? $0 : nil }
            let (first, second) = batch.halves()
            var part = Part()
            for half in [first, second] {
                // Once the time is up, what has not been tried by itself is put off with the rest.
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

    /// Decides about what was refused, now that it is known how its neighbours fared.
    ///
    /// What fails by itself while its neighbours pass is at fault itself. Where that may pass, as with a lock that another
    /// session holds, it is put off by the retry policy and the attempt counts. Where it does not, a single one is buried
    /// like anything else that the database refuses: an index may be broken in the one place that it touches. Otherwise, and
    /// where rights or tables are missing, nothing is buried and no attempt counted, however long it takes until somebody has
    /// put it right.
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
        let pause =
            Self.obstacleBackoff.limit(
                afterFailures: obstructed.add(1, ordering: .relaxed).newValue) * Double.random(in: 0.5..<1)
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

    /// Puts rows off, again and again while they are held if the database is away.
    /// - Parameter body: answers how many of them were still held.
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
                // The lease runs out and they fall due by themselves.
                logger.warning("Could not put rows off", metadata: ["error": "\(error)", "rows": "\(ids.count)"])
                return Tally(lost: ids.count)
            }
        }
    }

    /// One transaction: take the rows that are still ours, apply them, write what became of them. Either all of it
    /// stands afterwards or none.
    private func commit(_ batch: PreparedBatch, within limit: Duration) async throws -> Tally {
        // Past the lease the rows are others' to do, so a worker that stands still must not hold their locks any longer.
        // Some of its statements keep their plans, which may be from when a table was nearly empty.
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
            // No event is written of an instant after the evidence that is done: a renewal may wait behind it.
            let applied = try pipeline.apply(
                entries, upTo: rows.map(\.claimed.receivedAt).max(), session, deriving: { try watch.during(held, $0) })
            try Outbox.bury(letters, session)
            let (outcomes, settled) = (applied.change.outcomes, applied.settled)
            let end = (settled.clock, ContinuousClock.now)
            // At the end: who found something from the same address waits for this transaction.
            try Outbox.count(rows.compactMap { $0.finding(from: senders) }, configuration.junk, session)
            let tally = Tally(
                applied: outcomes.count { $0 == .applied }, duplicate: outcomes.count { $0 == .duplicate },
                parked: outcomes.count { $0 == .parked }, dead: letters.count, lost: batch.rows.count - rows.count)
            return (
                tally: tally, rows: rows, entries: entries, outcomes: outcomes, letters: letters, end: end,
                accounts: settled.changed, told: applied.told
            )
        }
        pipeline.accounts.announce(done.accounts)
        if let told = done.told { clock?.wrote(told) }
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
        for (code, rows) in byReason {
            // Their own verdict speaks of the surroundings where nothing of theirs was tried.
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

    /// What waits for a header or for the database is not tried meanwhile, so that it counts no attempt and is never given up.
    private func putOff(
        _ rows: [ClaimedNotification], for reason: ReasonCode, counting: Bool, token: UUID
    ) async throws -> Int {
        let ids = rows.map(\.id)
        if counting {
            let delays = rows.map { configuration.retries.pause(afterAttempts: $0.attempts) }
            return try await outbox.queue.reschedule(ids, by: delays, reason: reason.rawValue, token: token)
        }
        let pause = reason == .headerMissing ? Self.headerPause : Self.obstacleBackoff.cap
        let delays = rows.map { _ in pause * Double.random(in: 0.5..<1) }
        return try await outbox.queue.postpone(ids, by: delays, reason: reason.rawValue, token: token)
    }

    /// Between two looks for a header that is missing. It comes with the next notification that was stored whole.
    private static let headerPause = Duration.seconds(60)
    /// Transient failures of one batch in a row until it is put off, where no row of it can be to blame.
    private static let maximumTries = 12
    /// The same until its halves are tried by themselves, where one of its rows may be to blame: enough for a deadlock.
    private static let triesTogether = 5
    /// The same for a part of a batch.
    private static let triesApart = 2
    /// What of a lease is kept for putting rows off, at most.
    private static let reserve = Duration.seconds(5)
    /// The least time that a transaction is given, however little is left; of a short lease less.
    private static let leastShare = Duration.seconds(1)
    private static let backoff = Backoff(base: .milliseconds(50), cap: .seconds(2))
    /// Between two looks at a database that refuses everything.
    private static let obstacleBackoff = Backoff(base: .seconds(1), cap: .seconds(30))
    /// Letters of one batch that get a line each.
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

    /// The same one row as a dead letter, for what the database said of it; nil if it is one already.
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

    /// A batch of these rows, held as this one is.
    fileprivate func only(_ rows: [Row]) -> PreparedBatch {
        PreparedBatch(token: token, leaseEnd: leaseEnd, rows: rows)
    }
}

extension PostgresError {
    /// Whether what one row asks for may have drawn it: neither what is wrong with the connection nor with the server as a
    /// whole. A statement that took too long may have waited for one row's lock.
    fileprivate var mayBeOfOneRow: Bool {
        switch kind {
        case .server(let state): !state.isServerFault
        case .timeout: true
        case .connection, .cancelled, .decoding, .configuration, .unconfirmed, .unsupported: false
        }
    }
}
