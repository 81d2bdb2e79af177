package import AppStoreVerification
package import EvidenceStore

/// What became of one record that was handed in.
package enum IntakeAnswer: Sendable, Hashable {
    /// Apple signed it for an app and an environment that are served here. It is stored and applied, by this call or by one
    /// before it.
    case taken(TakenEvidence)
    /// It proves nothing, now or later, and nothing of it was kept: untrusted bytes must not fill the disk.
    case refused(VerificationCode, message: String)
    /// It cannot be judged now, and nothing of it was kept. The caller still has it, and hands it in again. Reasons:
    /// - Apple's responder is away (`revocation_unknown`);
    /// - a clock is wrong (`signed_in_future`);
    /// - a renewal info came without its transaction, and its purchase is not known (`purchase_unknown`).
    case undecided(ReasonCode)

    /// Whether it may be judged later.
    package var isUndecided: Bool {
        if case .undecided = self { true } else { false }
    }

    /// What was taken; nil where nothing was.
    package var taken: TakenEvidence? {
        if case .taken(let evidence) = self { evidence } else { nil }
    }
}
