import AccountStore
package import AppStoreVerification
package import Base
import EventStore
package import Events
import EvidenceStore
package import Logging
package import Metrics
package import Postgres
import PurchaseStore

/// Takes in what apps and backends hand in while they wait for the answer.
///
/// The same code that workers run, at once: verification is ``EvidenceVerifier``'s, effect and locks are ``EvidencePipeline``'s, and
/// the signed bytes are stored as all evidence is. Storing, applying, binding the purchase to an account and the
/// account's new status commit together. A caller with an answer finds all of it. A caller without one finds all or
/// nothing, and hands in the same again. No row is queued. While the transaction is open it waits for nothing but
/// PostgreSQL.
package struct EvidenceIntake: Sendable {
    /// Says what is to be done with what was handed in before it is stored; see ``IntakePlan``.
    package typealias Prepare =
        @Sendable (_ known: Set<Int>, _ session: borrowing PostgresSession) throws -> IntakePlan

    /// Decides which accounts the purchases of what was taken in belong to, in the transaction that applies it.
    package typealias Decide =
        @Sendable (_ transaction: IntakeTransaction, _ session: borrowing PostgresSession) throws ->
        EvidencePipeline.Ownership

    private let pool: PostgresPool
    private let outbox: Outbox
    private let verifier: EvidenceVerifier
    private let pipeline: EvidencePipeline
    private let revocation: RevocationChecker?
    private let deadline: Duration
    private let logger: Logger
    private let metrics: IntakeMetrics
    private let lives: LifeLog

    /// How often a transaction is tried again that lost a deadlock or a serialization conflict.
    private static let mostRepeats = 5
    private static let backoff = RetrySchedule.doubling(from: .milliseconds(5), upTo: .milliseconds(100))

    /// An intake.
    /// - Parameters:
    ///   - revocation: answers what the verifier's register asks; nil where revocation is not checked.
    ///   - deadline: how long the transaction may take, waits for other sessions' locks included.
    ///   - metrics: where to count.
    package init(
        pool: PostgresPool, verifier: Verifier, pipeline: EvidencePipeline, revocation: RevocationChecker? = nil,
        deadline: Duration = .seconds(5), logger: Logger, metrics factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.pool = pool
        outbox = Outbox(pool)
        self.verifier = EvidenceVerifier(verifier, pool)
        self.pipeline = pipeline
        self.revocation = revocation
        self.deadline = deadline
        self.logger = logger
        metrics = IntakeMetrics(factory)
        lives = LifeLog(logger)
    }

    /// Verifies records and applies those that hold.
    ///
    /// Records that belong together are handed in together: a renewal info is attributed to the app of its transaction.
    /// - Parameters:
    ///   - isAllOrNothing: keep nothing where one of them does not hold; each is answered like that one then.
    ///   - deadline: when waiting for responders about certificates ends; what depends on them is undecided then.
    ///   - prepare: asked first in the transaction, with the places of what is recorded already: what need not be stored, and which
    ///     purchases to hold. May run more than once, as `decide` may.
    ///   - cause: why events are written that no evidence explains.
    ///   - payer: the account whose ``AccountStore/WriteBudget`` pays for what is new; none by default.
    ///   - decide: decides which accounts the purchases belong to then. May run more than once, each time in a
    ///     transaction of its own. What it throws rolls all of it back, storing included.
    /// - Returns: what became of each, in their order, and what was applied; nil where nothing was taken, so that `decide` did not run.
    /// - Throws: `PostgresError`, after which nothing is promised and the same may be handed in again; what `decide` throws;
    ///   `WriteBudget.Exhausted`, and then nothing was kept; `CancellationError`.
    package func take(
        _ records: [HandedIn], isAllOrNothing: Bool = false, until deadline: ContinuousClock.Instant? = nil,
        cause: EventCause = .client, paidBy payer: UniqueIdentifier? = nil,
        deciding decide: @escaping Decide = { _, _ in .unchanged },
        preparing prepare: Prepare? = nil
    ) async throws -> (answers: [IntakeAnswer], applied: EvidencePipeline.Applied?) {
        guard !records.isEmpty else { return ([], nil) }
        let start = ContinuousClock.now
        var answers: [IntakeAnswer?] = Array(repeating: nil, count: records.count)
        var verified: [VerifiedRecord] = []
        for (place, result) in try await results(of: records, until: deadline).enumerated() {
            switch result {
            case .verified(let entry):
                guard let record = VerifiedRecord(entry, of: records[place], at: place) else { continue }
                verified.append(record)
            case .refused(let refusal):
                let code = if case .verification(let code) = refusal.reason { code } else { VerificationCode.malformed }
                answers[place] = .refused(code, message: refusal.message)
            case .undecided(let reason): answers[place] = .undecided(reason)
            }
        }
        var applied: EvidencePipeline.Applied?
        if isAllOrNothing, let first = answers.compactMap(\.self).first {
            answers = answers.map { $0 ?? first }
            verified = []
        }
        if !verified.isEmpty {
            await keepHeaders(of: verified.filter { $0.entry.kind.isJWS }.map { records[$0.place].bytes })
            let committed = try await commit(verified, records, prepare, cause, payer, decide)
            // Memories of guards are stale from here on.
            pipeline.accounts.announce(committed.applied.settled.changed)
            if let events = committed.applied.events { lives.note(events) }
            for (record, evidence) in zip(verified, committed.taken) { answers[record.place] = .taken(evidence) }
            applied = committed.applied
        }
        let all = answers.map { $0 ?? .refused(.malformedPayload, message: "The payload cannot be read.") }
        metrics.answered(records, all, in: ContinuousClock.now - start)
        return (all, applied)
    }

    /// What verifying each has come to. The database's clock decides what lies in the future, as for workers.
    private func results(
        of records: [HandedIn], until deadline: ContinuousClock.Instant?
    ) async throws -> [VerificationResult] {
        let now = try await outbox.clock()
        let pieces = records.map { record in
            // As it is read back: of a receipt the digest.
            let bytes = record.kind == .receipt ? Fingerprint(of: record.bytes).bytes : record.bytes
            return EvidenceVerifier.Piece(
                receivedAt: now, OpenedEvidence(record.kind.evidence, from: record.source, .success(bytes)))
        }
        let findings = zip(records, pieces).map { record, piece -> EvidenceVerifier.Finding in
            let most = record.kind.evidence.maximumSize
            // The schema would refuse to store it.
            guard record.bytes.count <= most else {
                return .result(
                    .refused(
                        EvidenceRefusal(
                            reason: .verification(.malformed), message: "This is longer than \(most) bytes.")))
            }
            return verifier.verify(piece, at: now)
        }
        return await verifier.results(of: findings, asking: revocation, until: deadline) {
            verifier.verify(pieces[$0], at: now)
        }
    }

    /// No worker verifies these, so their headers are kept here.
    private func keepHeaders(of texts: [[UInt8]]) async {
        do {
            try await outbox.keepHeaders(of: texts)
        } catch {
            logger.warning(
                "Could not keep a signature's header; what is handed in is stored whole until then",
                metadata: ["error": "\(error)"])
        }
    }

    private func commit(
        _ verified: [VerifiedRecord], _ records: [HandedIn], _ prepare: Prepare?, _ cause: EventCause,
        _ payer: UniqueIdentifier?, _ decide: @escaping Decide
    ) async throws -> (taken: [TakenEvidence], applied: EvidencePipeline.Applied) {
        // A client that stands still must not hold the purchases' locks.
        let options = TransactionOptions(
            deadline: deadline, idleTimeout: deadline * 2, isDurable: true, keepsPlans: true, name: "intake")
        var failures = 0
        while true {
            do {
                return try await pool.withTransaction(options) { session in
                    try apply(verified, records, prepare, cause, payer, decide, session)
                }
            } catch let error as PostgresError
                where error.sqlState?.classCode == "40" && !error.mayHaveCommitted && failures < Self.mostRepeats
            {
                failures += 1
                logger.debug("What was handed in has to be applied again", metadata: ["error": "\(error)"])
                try await Task.sleep(for: Self.backoff.pause(afterFailures: failures))
            }
        }
    }

    /// Stores and applies what is not recorded yet.
    ///
    /// What is recorded has its bytes here already: apps hand in the same again at each start, and a copy each time would say
    /// nothing. What another transaction records at the same moment is found by the ledger, after it was stored, and is
    /// kept as a duplicate like any other.
    private func apply(
        _ verified: [VerifiedRecord], _ records: [HandedIn], _ prepare: Prepare?, _ cause: EventCause,
        _ payer: UniqueIdentifier?, _ decide: Decide, _ session: borrowing PostgresSession
    ) throws -> (taken: [TakenEvidence], applied: EvidencePipeline.Applied) {
        var held = try pipeline.ledger.known(verified.map(\.digest), session)
        let known = Set(verified.filter { held.contains($0.digest) }.map(\.place))
        let plan = try prepare?(known, session) ?? IntakePlan()
        let new = verified.filter { !plan.skipped.contains($0.place) && held.insert($0.digest).inserted }
        // What is not stored may be of a purchase that still waits for a worker: that purchase cannot be held yet.
        let kept = verified.filter { !plan.skipped.contains($0.place) }
        if let payer { try WriteBudget.spend(new.reduce(0) { $0 + records[$1.place].weight }, of: payer, session) }
        let rows = try outbox.storeSettled(
            new.map { Evidence($0.entry.kind, from: records[$0.place].source, records[$0.place].bytes) }, session)
        let entries = zip(new, rows).map { record, row in
            LedgerEntry(record.entry, outboxID: row.id, receivedAt: row.receivedAt)
        }
        func taken(_ change: EvidencePipeline.Change) -> [TakenEvidence] {
            var outcomes: [Int: LedgerOutcome] = [:]
            for (record, outcome) in zip(new, change.outcomes) { outcomes[record.place] = outcome }
            return verified.map { $0.taken(outcomes[$0.place] ?? .duplicate) }
        }
        let applied = try pipeline.apply(
            entries, holding: Set(kept.compactMap(\.entry.purchase)).union(plan.holding), cause: cause, session
        ) { change, session in
            try decide(IntakeTransaction(taken: taken(change), changed: change.purchases), session)
        }
        return (taken(applied.change), applied)
    }
}
