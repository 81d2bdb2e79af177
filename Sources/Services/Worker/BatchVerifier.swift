import AppStoreVerification
import EvidenceStore
import Foundation
import Pipeline
import Postgres

/// Verifies a batch on all cores.
struct BatchVerifier: Sendable {
    let verifier: Verifier
    let evidence: EvidenceVerifier
    let revocation: RevocationChecker?
    let configuration: WorkerConfiguration
    let watch: Watchdog
    let metrics: WorkerMetrics

    func prepare(_ claimed: ClaimedNotifications) async -> PreparedBatch {
        // The rows to be verified, by their indices.
        let letters = claimed.rows.map(exhausted)
        let open = claimed.rows.indices.filter { letters[$0] == nil }
        let findings = await verify(open.map { claimed.rows[$0] }, at: claimed.claimedAt)
        let results = await evidence.results(of: findings, asking: revocation) {
            examine(claimed.rows[open[$0]], at: claimed.claimedAt).finding
        }
        var rows = zip(claimed.rows, letters).map { row, letter in
            PreparedBatch.Row(claimed: row, verdict: letter.map { .bury($0) } ?? .reschedule(.applyFailed))
        }
        for (place, result) in zip(open, results) { rows[place] = PreparedBatch.Row(claimed.rows[place], result) }
        return PreparedBatch(
            token: claimed.token, leaseEnd: claimed.leaseEnd, rows: rows, claimedAt: claimed.claimedAt)
    }

    private func verify(
        _ claimed: [ClaimedNotification], at now: PostgresTimestamp?
    ) async -> [EvidenceVerifier.Finding] {
        // One task a core: a row costs about a hundred microseconds, too little for a task of its own.
        let share = (claimed.count + Self.cores - 1) / Self.cores
        let shares = stride(from: 0, to: claimed.count, by: max(share, 1)).map {
            claimed[$0..<min($0 + share, claimed.count)]
        }
        let examined = await withTaskGroup(of: (Int, [Examined]).self) { group in
            for (number, share) in shares.enumerated() {
                group.addTask { (number, share.map { examine($0, at: now) }) }
            }
            var parts = [[Examined]](repeating: [], count: shares.count)
            for await (number, part) in group { parts[number] = part }
            return parts.flatMap(\.self)
        }
        metrics.verified(examined.map(\.duration), chains: verifier.chainCache.statistics)
        return examined.map(\.finding)
    }

    /// A row's finding, and how long verification took.
    private typealias Examined = (finding: EvidenceVerifier.Finding, duration: Duration)

    /// - Parameter now: when it was claimed: the database's clock decides what lies in the future, not a worker's.
    private func examine(_ claimed: ClaimedNotification, at now: PostgresTimestamp?) -> Examined {
        let start = ContinuousClock.now
        let finding = watch.during([claimed.id]) {
            configuration.beforeVerifying?(claimed.id)
            return evidence.verify(
                .init(outboxID: claimed.id, receivedAt: claimed.receivedAt, claimed.content), at: now)
        }
        return (finding, ContinuousClock.now - start)
    }

    /// A row that has used up its attempts becomes a dead letter unread: reading it may be what ended the others.
    private func exhausted(_ claimed: ClaimedNotification) -> DeadLetterDraft? {
        guard let exhaustion = configuration.retries.exhaustion(of: claimed) else { return nil }
        let tries = exhaustion.attempts
        let lapses = claimed.lapses
        switch exhaustion.cause {
        case .workerGone:
            return DeadLetterDraft(
                claimed, reason: .crashedWorker,
                message:
                    "of \(tries) attempts \(lapses) ended with its worker gone; see the workers' logs before a replay",
                attempts: tries)
        case .putOff(ReasonCode.purchaseUnknown.rawValue):
            return DeadLetterDraft(
                claimed, reason: .purchaseUnknown,
                message:
                    "renewal info of a purchase that no app served here is known to have, after \(tries) attempts: "
                    + "store its transaction, then replay", attempts: tries)
        case .putOff(let reason):
            return DeadLetterDraft(
                claimed, reason: .attemptsExhausted,
                message: "\(tries) attempts, the last one put off for \(reason ?? "no known reason")", attempts: tries)
        }
    }

    private static let cores = max(ProcessInfo.processInfo.activeProcessorCount, 1)
}
