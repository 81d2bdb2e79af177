import AppStoreVerification
import Foundation
import Outbox

/// Verifies a batch on all cores.
struct BatchVerifier: Sendable {
    let verifier: Verifier
    let configuration: WorkerConfiguration
    let watch: RunawayWatch

    func prepare(_ batch: ClaimedBatch) async -> PreparedBatch {
        let claimed = batch.rows
        // One task a core: a row costs about a hundred microseconds, too little for a task of its own.
        let share = (claimed.count + Self.cores - 1) / Self.cores
        let shares = stride(from: 0, to: claimed.count, by: max(share, 1)).map {
            claimed[$0..<min($0 + share, claimed.count)]
        }
        let dispositions = await withTaskGroup(of: (Int, [PreparedBatch.Disposition]).self) { group in
            for (number, share) in shares.enumerated() {
                group.addTask { (number, share.map(disposition(of:))) }
            }
            var parts = [[PreparedBatch.Disposition]](repeating: [], count: shares.count)
            for await (number, part) in group { parts[number] = part }
            return parts.flatMap(\.self)
        }
        return PreparedBatch(token: batch.token, rows: Array(zip(claimed, dispositions)))
    }

    private func disposition(of claimed: ClaimedNotification) -> PreparedBatch.Disposition {
        if let exhausted = exhausted(claimed) { return .bury(exhausted) }
        return watch.during([claimed.id]) {
            configuration.beforeVerifying?(claimed.id)
            return PreparedBatch.Disposition(verifying: claimed, by: verifier)
        }
    }

    /// A row that has used up its attempts is buried unopened: opening it may be what ended the others.
    private func exhausted(_ claimed: ClaimedNotification) -> DeadLetterDraft? {
        guard claimed.attempts > configuration.retries.maximumAttempts else { return nil }
        let tries = claimed.attempts - 1
        if claimed.lapsed {
            return DeadLetterDraft(
                claimed, category: .unprocessable, reason: "crashed_worker",
                message: "each of \(tries) attempts ended with its worker gone; see the workers' logs before a replay",
                attempts: tries)
        }
        return DeadLetterDraft(
            claimed, category: .unprocessable, reason: "attempts_exhausted",
            message: "\(tries) attempts, the last one put off for \(claimed.lastReason ?? "no known reason")",
            attempts: tries)
    }

    private static let cores = max(ProcessInfo.processInfo.activeProcessorCount, 1)
}
