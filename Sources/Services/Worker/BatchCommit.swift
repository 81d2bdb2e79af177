import AccountStore
import AppStoreVerification
import Base
import EvidenceStore
import Logging
import Pipeline
import Postgres
import PurchaseStore

/// Applies a prepared batch and settles its rows, in one transaction.
struct BatchCommit: Sendable {
    let pool: PostgresPool
    let pipeline: EvidencePipeline
    let configuration: WorkerConfiguration
    let watch: Watchdog
    let logger: Logger
    let metrics: WorkerMetrics
    let clock: EventClock?
    let lives: LifeLog

    /// One transaction: take the rows that are still ours, apply them, write their outcomes. Either all of it is
    /// committed or nothing.
    func callAsFunction(_ batch: PreparedBatch, within limit: Duration) async throws -> BatchTally {
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
            try Outbox.note(
                rows.compactMap { row -> EvidenceAttempt? in
                    guard case .bury(let letter) = row.verdict, letter.attempts == row.claimed.attempts else {
                        return nil
                    }
                    return EvidenceAttempt(
                        row.claimed, by: configuration.name, from: batch.claimedAt, reason: letter.reason,
                        message: letter.message)
                }, session)
            let outcomes = applied.change.outcomes
            let end = (applied.settled.clock, ContinuousClock.now)
            // At the end: other workers with findings about one of these addresses wait for this transaction.
            try Outbox.count(rows.compactMap { $0.finding(from: senders) }, configuration.junk, session)
            let tally = BatchTally(
                applied: outcomes.count { $0 == .applied }, duplicate: outcomes.count { $0 == .duplicate },
                parked: outcomes.count { $0 == .parked }, dead: letters.count, lost: batch.rows.count - rows.count)
            return (
                tally: tally, rows: rows, entries: entries, letters: letters, end: end, applied: applied
            )
        }
        let (applied, outcomes) = (done.applied, done.applied.change.outcomes)
        pipeline.accounts.announce(applied.settled.changed)
        if let events = applied.events { clock?.wrote(events) }
        // Read inside the transaction, which needs no connection; the duration of the commit is measured here.
        let committed = done.end.0.adding(ContinuousClock.now - done.end.1)
        metrics.settled(done.entries, outcomes, done.letters, at: committed)
        note(done.rows, done.entries, applied)
        log(done.rows, outcomes)
        return done.tally
    }

    /// A line for what was applied, one a second at most: it derives a purchase once more, as it was before.
    private func note(_ rows: [PreparedBatch.Row], _ entries: [LedgerEntry], _ applied: EvidencePipeline.Applied) {
        let notifications = AppliedNotification.places(entries, applied.change.outcomes)
        lives.note(.applied, times: notifications.count) {
            guard let place = notifications.last else { return [:] }
            let notification = AppliedNotification(entries[place], applied)
            let rows = rows.filter { if case .apply = $0.verdict { true } else { false } }
            return rows[place].logMetadata.merging(notification.metadata) { _, new in new }
        }
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
        var logged = 0
        for row in rows {
            guard case .bury(let letter) = row.verdict else { continue }
            logged += 1
            guard logged <= Self.lettersLogged else { return }
            var metadata: Logger.Metadata = [
                "category": "\(letter.category.rawValue)", "reason": "\(letter.reason.rawValue)",
            ]
            // What is signed and waits for a setting: which app it is about.
            if letter.reason == .verification(.wrongBundle) { metadata["detail"] = "\(letter.message)" }
            logger.warning(
                "Buried a notification", metadata: row.logMetadata.merging(metadata) { _, new in new })
        }
    }

    /// How many letters of one batch get a line each.
    private static let lettersLogged = 10
}
