package import EvidenceStore
package import Foundation
package import PurchaseStore

/// What verifying a piece of evidence has come to; see ``EvidenceVerifier``.
package enum VerificationResult: Sendable {
    /// Apple signed it for an app and an environment that are served: its facts go into the ledger.
    case verified(LedgerEntry)
    /// It proves nothing, now or later.
    case refused(EvidenceRefusal)
    /// It could not be verified now, or its app is not known; later that may change.
    case undecided(ReasonCode)
}

/// Why a piece of evidence proves nothing, and what it states, unproven.
package struct EvidenceRefusal: Sendable, Hashable {
    /// Why.
    package var reason: ReasonCode
    /// One line for people; never contents of the payload.
    package var message: String
    /// The notification that it claims to be.
    package var notificationUUID: UUID?
    /// The type that it claims to have.
    package var type: String?
    /// The subtype that it claims to have.
    package var subtype: String?
    /// The app that it claims to be of.
    package var bundleID: String?

    /// A refusal; the message is shortened to what a dead letter takes.
    init(
        reason: ReasonCode, message: String, notificationUUID: UUID? = nil, type: String? = nil,
        subtype: String? = nil, bundleID: String? = nil
    ) {
        self.reason = reason
        self.message = DeadLetterDraft.shortened(message, to: 1000)
        self.notificationUUID = notificationUUID
        self.type = type
        self.subtype = subtype
        self.bundleID = bundleID
    }
}
