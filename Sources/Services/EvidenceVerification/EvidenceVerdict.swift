import AppStorePayloads
package import AppStoreVerification
import Foundation
package import Ledger
package import Outbox
import Queue

/// What is to be done with a stored notification, found out by verifying it: for workers, and for rehearsals of what
/// workers would do.
package enum EvidenceVerdict: Sendable {
    /// Verified: its facts go into the ledger.
    case apply(LedgerEntry)
    /// Refused for good.
    case bury(DeadLetterDraft)
    /// Could not be verified now; another time it may.
    case reschedule(ReasonCode)

    /// Verifies a row. Permanent and transient are told apart here and nowhere else: of all reasons to refuse a signature,
    /// only a revocation responder that is away can be another one tomorrow.
    package init(verifying claimed: ClaimedNotification, by verifier: Verifier) {
        if let why = claimed.unreadable {
            self = .bury(
                DeadLetterDraft(claimed, reason: .bodyUnreadable, message: why.description))
            return
        }
        guard let body = claimed.body else {
            self = .bury(
                DeadLetterDraft(
                    claimed, reason: .bodyMissing,
                    message: "the stored bytes are gone: their partition was dropped before the notification was done"))
            return
        }
        do throws(VerificationFailure) {
            self = .apply(
                LedgerEntry(
                    outboxID: claimed.id, receivedAt: claimed.receivedAt, try verifier.verifyNotification(body)))
        } catch {
            if error.code == .revocationUnknown {
                self = .reschedule(.verification(error.code))
                return
            }
            let claims = UnverifiedSummary.read(body)
            self = .bury(
                DeadLetterDraft(
                    claimed, reason: .verification(error.code), message: error.message,
                    notificationUUID: claims.notificationUUID.map(UUID.init),
                    type: claims.notificationType?.rawValue, subtype: claims.subtype?.rawValue))
        }
    }
}
