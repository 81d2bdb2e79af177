import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import Base
import EvidenceStore
import Subscriptions

extension ReceiptIntake {
    /// Examines a receipt while a caller waits, and asks Apple about the purchases that it proves. Nothing is stored
    /// here, and no transaction is open: the caller applies the finding at once. A worker asks for what Apple does not
    /// answer in time.
    ///
    /// The ids of an unproven receipt are not asked about: made-up receipts would use up the requests that Apple allows.
    /// - Parameters:
    ///   - bytes: as the app has it, in base64 or as bytes.
    ///   - deadline: when Apple is waited for no longer.
    /// - Throws: ``ReceiptRefusal`` for a receipt that proves nothing, or nothing yet; `AppStoreFailure` or ``UnusableAnswer`` where
    ///   verifyReceipt alone could vouch for it, and does not; `PostgresError`; `CancellationError`.
    package func examine(
        _ bytes: [UInt8], until deadline: ContinuousClock.Instant
    ) async throws -> ReceiptFinding {
        // Written in one way, so that the same receipt with other white space is the same evidence.
        let canonical = (try? Receipt(bytes).base64) ?? bytes
        let examined = try await verify(canonical, from: .client, of: nil, until: deadline)
        guard let proof = examined.report.proof else {
            throw examined.report.refusal ?? ReceiptRefusal(.malformed, "Nobody vouches for the receipt.")
        }
        let ids = examined.report.transactionIDs
        let isAsked = proof.environment == .production || proof.environment == .sandbox
        guard let server = examined.app?.server, isAsked, !ids.isEmpty else {
            var finding = ReceiptFinding(examined, proof)
            finding.isAsked = isAsked && examined.app?.receipts != nil
            if examined.report.trouble != nil { finding.unanswered = try await notHeld(finding.purchases, by: finding) }
            return finding
        }
        let collected = CollectedEvidence()
        let outcome = try await PurchaseRefresh(into: collected, server).run(
            about: ids, in: proof.environment, atMost: Self.mostRefreshes, until: deadline)
        var finding = ReceiptFinding(examined, proof, collected.transactions)
        finding.isAsked = true
        finding.trouble = outcome.trouble.map { UnusableAnswer.line($0) }
        let settled = collected.settled
        let open = finding.purchases(of: outcome.open).filter { !settled.contains($0.originalTransactionID) }
        finding.unanswered = try await notHeld(open, by: finding)
        let now = verifier.clock()
        let unknown = finding.purchases(of: outcome.unknown)
        let fresh = unknown.filter { finding.isFresh($0, at: now) }
        finding.unknown = Set(unknown).subtracting(fresh)
        if !fresh.isEmpty {
            finding.unanswered.formUnion(try await notHeld(fresh, by: finding))
            finding.trouble = finding.trouble ?? UnusableAnswer.line(UnusableAnswer.tooFresh)
        }
        finding.records = try await collected.news(by: history)
        try await history.queueRefreshes(of: outcome.open, in: finding.scope)
        // Asked again at once Apple would say the same, and a worker would believe it.
        try await history.queueRefreshes(
            of: fresh.map(\.originalTransactionID), in: finding.scope, after: Self.learning)
        return finding
    }

    /// How long Apple is given to learn of a purchase before a worker asks about it.
    private static let learning = Duration.seconds(60)

    /// The purchases for which less is held than the receipt says: nothing can be said about them without Apple.
    private func notHeld(_ purchases: [PurchaseKey], by finding: ReceiptFinding) async throws -> Set<PurchaseKey> {
        let asked = Dictionary(purchases.map { ($0, finding.lastPeriod(of: $0)) }) { first, _ in first }
        return try await Set(purchases).subtracting(history.held(asked))
    }
}
