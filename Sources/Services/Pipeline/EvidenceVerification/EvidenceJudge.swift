import AppStorePayloads
package import AppStoreVerification
import Base
package import EvidenceStore
import Foundation
package import Postgres
import PurchaseStore
import Subscriptions

/// Finds out what is to be done with claimed evidence: for workers, and for rehearsals of what workers would do.
package struct EvidenceJudge: Sendable {
    /// What verifying alone has shown.
    package enum Opinion: Sendable {
        /// It is clear.
        case verdict(EvidenceVerdict)
        /// Whose renewal info it is has to be looked up.
        case unattributed(UnattributedRenewal)
    }

    private let verifier: Verifier
    private let reader: LedgerReader

    /// A judge.
    /// - Parameter pool: where it is looked up whose a renewal info is.
    package init(_ verifier: Verifier, _ pool: PostgresPool) {
        self.verifier = verifier
        reader = LedgerReader(pool)
    }

    /// Verifies a row. Permanent and transient are told apart here and nowhere else: of all reasons to refuse a signature,
    /// only the transient ones can be others tomorrow.
    /// - Parameter now: when it was claimed, by the database's clock; the verifier's where nothing was claimed.
    package func opinion(on claimed: ClaimedNotification, at now: PostgresTimestamp? = nil) -> Opinion {
        if case .missingHeader = claimed.unreadable { return .verdict(.reschedule(.headerMissing)) }
        if let why = claimed.unreadable {
            return .verdict(.bury(DeadLetterDraft(claimed, reason: .bodyUnreadable, message: why.description)))
        }
        guard let body = claimed.body else {
            return .verdict(
                .bury(
                    DeadLetterDraft(
                        claimed, reason: .bodyMissing,
                        message: "the stored bytes are gone: their partition was dropped before the evidence was done"))
            )
        }
        do throws(VerificationFailure) {
            let finding = try EvidenceFinding(
                verifying: body, as: claimed.kind, from: claimed.source, outboxID: claimed.id,
                receivedAt: claimed.receivedAt, at: now.map(Timestamp.init), by: verifier)
            switch finding {
            case .entry(let entry): return .verdict(.apply(entry))
            case .unattributed(let renewal): return .unattributed(renewal)
            }
        } catch {
            if error.code.isTransient { return .verdict(.reschedule(.verification(error.code))) }
            let claims = claimed.kind == .notification ? UnverifiedSummary.read(body) : UnverifiedSummary()
            return .verdict(
                .bury(
                    DeadLetterDraft(
                        claimed, reason: .verification(error.code), message: error.message,
                        notificationUUID: claims.notificationUUID.map(UUID.init),
                        type: claims.notificationType?.rawValue, subtype: claims.subtype?.rawValue)))
        }
    }

    /// What is to be done with the rows of one batch, in their order, once responders have been asked what verifying them
    /// has left open: once for all rows, and with the answers only those are verified again that waited for them.
    /// - Parameters:
    ///   - revocation: asks the responders; nil where nobody is asked.
    ///   - deadline: when nobody waits for them any longer, where somebody does.
    ///   - again: verifies the row at that place anew.
    package func verdicts(
        _ opinions: [Opinion], asking revocation: RevocationChecker?, until deadline: ContinuousClock.Instant? = nil,
        again: @Sendable (Int) -> Opinion
    ) async -> [EvidenceVerdict] {
        var opinions = opinions
        // A part that another chain signed may bring up one more question.
        for _ in 0..<2 {
            guard let revocation, await revocation.sendPendingRequests(until: deadline) else { break }
            for index in opinions.indices {
                guard case .verdict(.reschedule) = opinions[index] else { continue }
                opinions[index] = again(index)
            }
        }
        return await verdicts(opinions)
    }

    /// What is to be done with the rows of one batch, in their order.
    ///
    /// A renewal info by itself is its purchase's: of the one served app that holds it, by what stands in the database or
    /// in this batch. While there is none, or more than one, it waits.
    package func verdicts(_ opinions: [Opinion]) async -> [EvidenceVerdict] {
        var open: Set<UnattributedPurchase> = []
        for case .unattributed(let renewal) in opinions { open.insert(renewal.purchase) }
        guard !open.isEmpty else { return opinions.map { $0.verdict { _ in .reschedule(.purchaseUnknown) } } }
        var holders: [UnattributedPurchase: Set<String>]
        do {
            holders = try await reader.apps(holding: open, among: Array(verifier.configuration.apps.keys))
        } catch {
            let reason = (error as? PostgresError).map { ReasonCode($0) } ?? .applyFailed
            return opinions.map { $0.verdict { _ in .reschedule(reason) } }
        }
        for case .verdict(.apply(let entry)) in opinions {
            guard let environment = entry.environment, let bundleID = entry.bundleID,
                let id = entry.transaction?.payload.originalTransactionId
            else { continue }
            let purchase = UnattributedPurchase(environment: environment, originalTransactionID: id)
            if open.contains(purchase) { holders[purchase, default: []].insert(bundleID) }
        }
        return opinions.map { opinion in
            opinion.verdict { renewal in
                guard let apps = holders[renewal.purchase], apps.count == 1, let app = apps.first else {
                    return .reschedule(.purchaseUnknown)
                }
                return .apply(renewal.entry(of: app))
            }
        }
    }
}

extension EvidenceJudge.Opinion {
    fileprivate func verdict(_ attribute: (UnattributedRenewal) -> EvidenceVerdict) -> EvidenceVerdict {
        switch self {
        case .verdict(let verdict): verdict
        case .unattributed(let renewal): attribute(renewal)
        }
    }
}
