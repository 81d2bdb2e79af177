import AppStorePayloads
package import AppStoreVerification
import Base
package import EvidenceStore
import Foundation
package import Postgres
import PurchaseStore
import Subscriptions

/// Verifies evidence as what it was stored or handed in as: for workers, for what apps hand in, and for rehearsals of replays. It knows
/// nothing of queues and of accounts.
package struct EvidenceVerifier: Sendable {
    /// A piece of evidence.
    package struct Piece: Sendable {
        /// Where it is stored; 0 where it is not yet.
        package var outboxID: Int64
        /// When it came.
        package var receivedAt: PostgresTimestamp
        /// What it is; nil where its bytes are gone.
        package var content: OpenedEvidence?

        /// A piece.
        package init(outboxID: Int64 = 0, receivedAt: PostgresTimestamp, _ content: OpenedEvidence?) {
            self.outboxID = outboxID
            self.receivedAt = receivedAt
            self.content = content
        }
    }

    /// What verifying a piece alone has shown.
    package enum Finding: Sendable {
        /// It is clear.
        case result(VerificationResult)
        /// The app of the renewal info has to be looked up.
        case unattributed(UnattributedRenewal)
    }

    private let verifier: Verifier
    private let reader: LedgerReader

    /// A verifier of evidence.
    /// - Parameter pool: where the app of a renewal info is looked up.
    package init(_ verifier: Verifier, _ pool: PostgresPool) {
        self.verifier = verifier
        reader = LedgerReader(pool)
    }

    /// Verifies a piece. Permanent and transient refusals are distinguished here and nowhere else: of all reasons to
    /// refuse a signature, only the transient ones can be others tomorrow.
    /// - Parameter now: by the database's clock, where it was read; otherwise the verifier's clock counts.
    package func verify(_ piece: Piece, at now: PostgresTimestamp? = nil) -> Finding {
        guard let content = piece.content else {
            return .result(
                .refused(
                    EvidenceRefusal(
                        reason: .bodyMissing,
                        message: "the stored bytes are gone: their partition was dropped before the evidence was done"))
            )
        }
        let body: [UInt8]
        switch content.body {
        case .success(let bytes): body = bytes
        case .failure(.missingHeader): return .result(.undecided(.headerMissing))
        case .failure(let why):
            return .result(.refused(EvidenceRefusal(reason: .bodyUnreadable, message: why.description)))
        }
        do throws(VerificationFailure) {
            let finding = try EvidenceFinding(
                verifying: body, as: content.kind, from: content.source, outboxID: piece.outboxID,
                receivedAt: piece.receivedAt, at: now.map(Timestamp.init), by: verifier)
            switch finding {
            case .entry(let entry): return .result(.verified(entry))
            case .unattributed(let renewal): return .unattributed(renewal)
            }
        } catch {
            if error.code.isTransient { return .result(.undecided(.verification(error.code))) }
            let claims = content.kind.isJWS ? UnverifiedSummary.read(body) : UnverifiedSummary()
            return .result(
                .refused(
                    EvidenceRefusal(
                        reason: .verification(error.code), message: error.message,
                        notificationUUID: claims.notificationUUID.map(UUID.init),
                        type: claims.notificationType?.rawValue, subtype: claims.subtype?.rawValue,
                        bundleID: claims.bundleId)))
        }
    }

    /// What verifying pieces has come to, in their order, once responders have been asked what verifying them has left open: once for
    /// all pieces, and with the answers only those are verified again that waited for them.
    /// - Parameters:
    ///   - revocation: asks the responders; nil to ask none.
    ///   - deadline: when waiting for them ends; nil for no limit.
    ///   - again: verifies the piece at that place anew.
    package func results(
        of findings: [Finding], asking revocation: RevocationChecker?, until deadline: ContinuousClock.Instant? = nil,
        again: @Sendable (Int) -> Finding
    ) async -> [VerificationResult] {
        var findings = findings
        // A part that another chain signed may bring up one more question.
        for _ in 0..<2 {
            guard let revocation, await revocation.sendPendingRequests(until: deadline) else { break }
            for index in findings.indices {
                guard case .result(.undecided) = findings[index] else { continue }
                findings[index] = again(index)
            }
        }
        return await results(of: findings)
    }

    /// What verifying pieces has come to, in their order.
    ///
    /// A renewal info by itself belongs to the one served app that has its purchase, in the database or in this batch.
    /// While there is none, or more than one, it waits.
    package func results(of findings: [Finding]) async -> [VerificationResult] {
        var open: Set<UnattributedPurchase> = []
        for case .unattributed(let renewal) in findings { open.insert(renewal.purchase) }
        guard !open.isEmpty else { return findings.map { $0.result { _ in .undecided(.purchaseUnknown) } } }
        var holders: [UnattributedPurchase: Set<String>]
        do {
            holders = try await reader.apps(holding: open, among: Array(verifier.configuration.apps.keys))
        } catch {
            let reason = (error as? PostgresError).map { ReasonCode($0) } ?? .applyFailed
            return findings.map { $0.result { _ in .undecided(reason) } }
        }
        for case .result(.verified(let entry)) in findings {
            guard let environment = entry.environment, let bundleID = entry.bundleID,
                let id = entry.transaction?.payload.originalTransactionId
            else { continue }
            let purchase = UnattributedPurchase(environment: environment, originalTransactionID: id)
            if open.contains(purchase) { holders[purchase, default: []].insert(bundleID) }
        }
        return findings.map { finding in
            finding.result { renewal in
                guard let apps = holders[renewal.purchase], apps.count == 1, let app = apps.first else {
                    return .undecided(.purchaseUnknown)
                }
                return .verified(renewal.entry(of: app))
            }
        }
    }
}

extension EvidenceVerifier.Finding {
    fileprivate func result(_ attribute: (UnattributedRenewal) -> VerificationResult) -> VerificationResult {
        switch self {
        case .result(let result): result
        case .unattributed(let renewal): attribute(renewal)
        }
    }
}
