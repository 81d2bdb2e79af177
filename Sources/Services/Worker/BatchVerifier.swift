import AppStoreVerification
import EvidenceVerification
import Foundation
import Outbox
import Queue

/// Verifies a batch on all cores.
struct BatchVerifier: Sendable {
    let verifier: Verifier
    let revocation: RevocationChecker?
    let configuration: WorkerConfiguration
    let watch: Watchdog
    let metrics: WorkerMetrics

    func prepare(_ claimed: ClaimedNotifications) async -> PreparedBatch {
        var batch = await verify(claimed)
        // Asked once for all rows, and with the answers only those are verified again that waited for them. A part that
        // another chain signed may bring up one more question.
        for _ in 0..<2 {
            guard let revocation, await revocation.sendPendingRequests() else { break }
            for (index, row) in batch.rows.enumerated() {
                guard case .reschedule = row.verdict else { continue }
                batch.rows[index].verdict = judge(row.claimed).verdict
            }
        }
        return batch
    }

    private func verify(_ batch: ClaimedNotifications) async -> PreparedBatch {
        let claimed = batch.rows
        // One task a core: a row costs about a hundred microseconds, too little for a task of its own.
        let share = (claimed.count + Self.cores - 1) / Self.cores
        let shares = stride(from: 0, to: claimed.count, by: max(share, 1)).map {
            claimed[$0..<min($0 + share, claimed.count)]
        }
        let judged = await withTaskGroup(of: (Int, [Judged]).self) { group in
            for (number, share) in shares.enumerated() {
                group.addTask { (number, share.map(judge)) }
            }
            var parts = [[Judged]](repeating: [], count: shares.count)
            for await (number, part) in group { parts[number] = part }
            return parts.flatMap(\.self)
        }
        metrics.verified(judged.compactMap(\.duration), chains: verifier.chainCache.statistics)
        return PreparedBatch(
            token: batch.token, rows: zip(claimed, judged).map { .init(claimed: $0, verdict: $1.verdict) })
    }

    /// A row's verdict, and how long it took to find out; nil where nothing was verified.
    private typealias Judged = (verdict: EvidenceVerdict, duration: Duration?)

    private func judge(_ claimed: ClaimedNotification) -> Judged {
        if let exhausted = exhausted(claimed) { return (.bury(exhausted), nil) }
        let start = ContinuousClock.now
        let verdict = watch.during([claimed.id]) {
            configuration.beforeVerifying?(claimed.id)
            return EvidenceVerdict(verifying: claimed, by: verifier)
        }
        return (verdict, ContinuousClock.now - start)
    }

    /// A row that has used up its attempts is buried unopened: opening it may be what ended the others.
    private func exhausted(_ claimed: ClaimedNotification) -> DeadLetterDraft? {
        guard let exhaustion = configuration.retries.exhaustion(of: claimed) else { return nil }
        let tries = exhaustion.attempts
        switch exhaustion.cause {
        case .workerGone:
            return DeadLetterDraft(
                claimed, reason: .crashedWorker,
                message: "each of \(tries) attempts ended with its worker gone; see the workers' logs before a replay",
                attempts: tries)
        case .putOff(let reason):
            return DeadLetterDraft(
                claimed, reason: .attemptsExhausted,
                message: "\(tries) attempts, the last one put off for \(reason ?? "no known reason")", attempts: tries)
        }
    }

    private static let cores = max(ProcessInfo.processInfo.activeProcessorCount, 1)
}
