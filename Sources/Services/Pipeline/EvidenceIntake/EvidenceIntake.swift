package import AppStoreVerification
import Base
import EvidenceStore
package import Logging
package import Metrics
package import Postgres
package import PurchaseStore

/// Takes in what apps and backends hand in while they wait for the answer.
///
/// The same code that workers run, at once: verification is ``EvidenceJudge``'s, effect and locks are the ledger's, and the
/// signed bytes are stored as all evidence is. Storing, applying and whatever the caller adds (whose the purchase is, what
/// the account's status is now) commit together, so that who has an answer finds all of it, and who has none finds either all or
/// nothing and hands in the same again. No row is queued. While the transaction is open nobody is waited for but PostgreSQL.
package struct EvidenceIntake: Sendable {
    /// Says what is to be done with what was handed in before it is stored; see ``IntakePlan``.
    package typealias Prepare =
        @Sendable (_ known: Set<Int>, _ session: borrowing PostgresSession) throws -> IntakePlan

    private let pool: PostgresPool
    private let outbox: Outbox
    private let judge: EvidenceJudge
    private let ledger: Ledger
    private let revocation: RevocationChecker?
    private let deadline: Duration
    private let logger: Logger
    private let metrics: IntakeMetrics

    /// How often a transaction is tried again that lost a deadlock or a serialization conflict.
    private static let mostRepeats = 5
    private static let backoff = Backoff(base: .milliseconds(5), cap: .milliseconds(100))

    /// An intake.
    /// - Parameters:
    ///   - revocation: answers what the verifier's register asks; nil where revocation is not checked.
    ///   - deadline: how long the transaction may take, waits for other sessions' locks included.
    ///   - metrics: where to count.
    package init(
        pool: PostgresPool, verifier: Verifier, ledger: Ledger, revocation: RevocationChecker? = nil,
        deadline: Duration = .seconds(5), logger: Logger, metrics factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.pool = pool
        outbox = Outbox(pool)
        judge = EvidenceJudge(verifier, pool)
        self.ledger = ledger
        self.revocation = revocation
        self.deadline = deadline
        self.logger = logger
        metrics = IntakeMetrics(factory)
    }

    /// Verifies records and applies those that hold.
    ///
    /// Records that belong together are handed in together: a renewal info is attributed to the app of its transaction.
    /// - Parameters:
    ///   - isAllOrNothing: keep nothing where one of them does not hold; each is answered like that one then.
    ///   - deadline: when nobody waits any longer for what responders say of certificates; what depends on it is undecided then.
    ///   - prepare: asked first in the transaction, with the places of what is recorded already: what need not be stored, and which
    ///     purchases to hold. May run more than once, as `settle` may.
    ///   - settle: what is to commit with them. May run more than once, each time in a transaction of its own. What it throws rolls all of
    ///     it back, storing included.
    /// - Returns: what became of each, in their order, and what `settle` returned; nil where nothing was taken, so that it
    ///   did not run.
    /// - Throws: `PostgresError`, after which nothing is promised and the same may be handed in again; what `settle` throws;
    ///   `CancellationError`.
    package func take<Settled: Sendable>(
        _ records: [HandedIn], isAllOrNothing: Bool = false, until deadline: ContinuousClock.Instant? = nil,
        preparing prepare: Prepare? = nil,
        settling settle: @escaping @Sendable (IntakeTransaction, borrowing PostgresSession) throws -> Settled
    ) async throws -> (answers: [IntakeAnswer], settled: Settled?) {
        guard !records.isEmpty else { return ([], nil) }
        let start = ContinuousClock.now
        var answers: [IntakeAnswer?] = Array(repeating: nil, count: records.count)
        var verified: [VerifiedRecord] = []
        for (place, verdict) in try await verdicts(on: records, until: deadline).enumerated() {
            switch verdict {
            case .apply(let entry):
                guard let record = VerifiedRecord(entry, of: records[place], at: place) else { continue }
                verified.append(record)
            case .bury(let letter):
                let code = if case .verification(let code) = letter.reason { code } else { VerificationCode.malformed }
                answers[place] = .refused(code, message: letter.message)
            case .reschedule(let reason): answers[place] = .undecided(reason)
            }
        }
        var settled: Settled?
        if isAllOrNothing, let first = answers.compactMap(\.self).first {
            answers = answers.map { $0 ?? first }
            verified = []
        }
        if !verified.isEmpty {
            await keepHeaders(of: verified.filter { $0.entry.kind.isJWS }.map { records[$0.place].bytes })
            let committed = try await commit(verified, records, prepare, settle)
            for (record, evidence) in zip(verified, committed.taken) { answers[record.place] = .taken(evidence) }
            settled = committed.settled
        }
        let all = answers.map { $0 ?? .refused(.malformedPayload, message: "The payload cannot be read.") }
        metrics.answered(records, all, in: ContinuousClock.now - start)
        return (all, settled)
    }

    /// What is to be done with each. What lies in the future, the database's clock decides, as for workers.
    private func verdicts(
        on records: [HandedIn], until deadline: ContinuousClock.Instant?
    ) async throws -> [EvidenceVerdict] {
        let now = try await outbox.clock()
        let rows = records.map { record in
            // As it is read back: of a receipt the digest.
            let bytes = record.kind == .receipt ? Fingerprint(of: record.bytes).bytes : record.bytes
            return ClaimedNotification(
                id: 0, receivedAt: now, attempts: 0, lapsed: false, lastReason: nil,
                content: OpenedEvidence(record.kind.evidence, from: record.source, .success(bytes)))
        }
        let opinions = zip(records, rows).map { record, row -> EvidenceJudge.Opinion in
            // The schema would refuse to store it.
            guard record.bytes.count <= row.kind.maximumSize else {
                return .verdict(
                    .bury(
                        DeadLetterDraft(
                            row, reason: .verification(.malformed),
                            message: "This is longer than \(row.kind.maximumSize) bytes.")))
            }
            return judge.opinion(on: row, at: now)
        }
        return await judge.verdicts(opinions, asking: revocation, until: deadline) {
            judge.opinion(on: rows[$0], at: now)
        }
    }

    /// No worker verifies these, so nobody else would keep their headers.
    private func keepHeaders(of texts: [[UInt8]]) async {
        do {
            try await outbox.keepHeaders(of: texts)
        } catch {
            logger.warning(
                "Could not keep a signature's header; what is handed in is stored whole until then",
                metadata: ["error": "\(error)"])
        }
    }

    private func commit<Settled: Sendable>(
        _ verified: [VerifiedRecord], _ records: [HandedIn], _ prepare: Prepare?,
        _ settle: @escaping @Sendable (IntakeTransaction, borrowing PostgresSession) throws -> Settled
    ) async throws -> (taken: [TakenEvidence], settled: Settled) {
        // A client that stands still must not hold the purchases' locks.
        let options = TransactionOptions(
            deadline: deadline, idleTimeout: deadline * 2, isDurable: true, keepsPlans: true, name: "intake")
        var failures = 0
        while true {
            do {
                return try await pool.withTransaction(options) { session in
                    let transaction = try apply(verified, records, prepare, session)
                    return (taken: transaction.taken, settled: try settle(transaction, session))
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
    /// nothing. What somebody else records at the same moment is found out by the ledger, after it was stored, and is kept as a
    /// duplicate like any other.
    private func apply(
        _ verified: [VerifiedRecord], _ records: [HandedIn], _ prepare: Prepare?, _ session: borrowing PostgresSession
    ) throws -> IntakeTransaction {
        var held = try ledger.known(verified.map(\.digest), session)
        let known = Set(verified.filter { held.contains($0.digest) }.map(\.place))
        let plan = try prepare?(known, session) ?? IntakePlan()
        let new = verified.filter { !plan.skipped.contains($0.place) && held.insert($0.digest).inserted }
        // What is not stored may be of a purchase that only waits for a worker: that one is nobody's to hold yet.
        let kept = verified.filter { !plan.skipped.contains($0.place) }
        let rows = try outbox.storeSettled(
            new.map { Evidence($0.entry.kind, from: records[$0.place].source, records[$0.place].bytes) }, session)
        let entries = zip(new, rows).map { record, row in
            LedgerEntry(record.entry, outboxID: row.id, receivedAt: row.receivedAt)
        }
        let (outcomes, news) = try ledger.telling(
            entries, holding: Set(kept.compactMap(\.entry.purchase)).union(plan.holding), session)
        try Outbox.recordDuplicates(zip(entries, outcomes).filter { $1 == .duplicate }.map(\.0), session)
        var applied: [Int: LedgerOutcome] = [:]
        for (record, outcome) in zip(new, outcomes) { applied[record.place] = outcome }
        return IntakeTransaction(
            taken: verified.map { $0.taken(applied[$0.place] ?? .duplicate) }, news: news)
    }
}
