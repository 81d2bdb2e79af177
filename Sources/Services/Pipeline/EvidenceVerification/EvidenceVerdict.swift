package import EvidenceStore
package import PurchaseStore

/// What is to be done with a stored piece of evidence; see ``EvidenceJudge``.
package enum EvidenceVerdict: Sendable {
    /// Verified: its facts go into the ledger.
    case apply(LedgerEntry)
    /// Refused for good.
    case bury(DeadLetterDraft)
    /// Could not be verified now, or not be told whose it is; another time it may.
    case reschedule(ReasonCode)
}
