import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleRecords
import Base
import EvidenceStore
import Subscriptions

extension ReceiptIntake {
    /// Looks at a receipt for somebody who waits, and asks Apple about the purchases that it proves. Nothing of it is stored here, and
    /// no transaction is open meanwhile: whoever waits applies what was found, at once. What Apple does not answer in time a
    /// worker asks for.
    ///
    /// The ids of a receipt that nobody vouches for are not asked about: whoever sends made-up receipts would spend what Apple allows.
    /// - Parameters:
    ///   - bytes: as the app has it, in base64 or as bytes.
    ///   - deadline: when nobody waits for Apple any longer.
    /// - Throws: ``ReceiptRefusal`` for a receipt that proves nothing, or nothing yet; `AppStoreFailure` or ``AnswerTrouble`` where
    ///   verifyReceipt alone could vouch for it, and does not; `PostgresError`; `CancellationError`.
    package func examine(
        _ bytes: [UInt8], until deadline: ContinuousClock.Instant
    ) async throws -> ReceiptFinding {
        // Written in one way, so that the same receipt with other white space is the same evidence.
        let canonical = (try? Receipt(bytes).base64) ?? bytes
        let looked = try await look(at: canonical, from: .client, of: nil, until: deadline)
        guard let proof = looked.report.proof else {
            throw looked.report.refusal ?? ReceiptRefusal(.malformed, "Nobody vouches for the receipt.")
        }
        let ids = looked.report.transactionIDs
        let isAsked = proof.environment == .production || proof.environment == .sandbox
        guard let server = looked.app?.server, isAsked, !ids.isEmpty else {
            var finding = ReceiptFinding(looked, proof)
            finding.isAsked = isAsked && looked.app?.receipts != nil
            if looked.report.trouble != nil { finding.unanswered = try await notHeld(finding.purchases, by: finding) }
            return finding
        }
        let basket = AnswerBasket()
        let outcome = try await RefreshRound(PurchaseRefresh(into: basket, server), until: deadline).ask(
            about: ids, in: proof.environment, atMost: Self.mostRefreshes)
        var finding = ReceiptFinding(looked, proof, basket.transactions)
        finding.isAsked = true
        finding.trouble = outcome.trouble.map { AnswerTrouble.line($0) }
        let settled = basket.settled
        let open = finding.purchases(of: outcome.open).filter { !settled.contains($0.originalTransactionID) }
        finding.unanswered = try await notHeld(open, by: finding)
        let now = verifier.clock()
        let unknown = finding.purchases(of: outcome.unknown)
        let fresh = unknown.filter { finding.isFresh($0, at: now) }
        finding.unknown = Set(unknown).subtracting(fresh)
        if !fresh.isEmpty {
            finding.unanswered.formUnion(try await notHeld(fresh, by: finding))
            finding.trouble = finding.trouble ?? AnswerTrouble.line(AnswerTrouble.tooFresh)
        }
        finding.records = try await basket.news(by: history)
        try await history.queueRefreshes(of: outcome.open, in: finding.scope)
        // Asked again at once Apple would say the same, and a worker would believe it.
        try await history.queueRefreshes(
            of: fresh.map(\.originalTransactionID), in: finding.scope, after: Self.learning)
        return finding
    }

    /// How long Apple is given to learn of a purchase before a worker asks about it.
    private static let learning = Duration.seconds(60)

    /// Those purchases that nothing can be said of without Apple. Of one that is known as far as the receipt knows it, what is held
    /// is the answer, and asking would only have bettered it.
    private func notHeld(_ purchases: [PurchaseKey], by finding: ReceiptFinding) async throws -> Set<PurchaseKey> {
        let asked = Dictionary(purchases.map { ($0, finding.lastPeriod(of: $0)) }) { first, _ in first }
        return try await Set(purchases).subtracting(history.held(asked))
    }
}
