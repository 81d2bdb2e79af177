import Base

/// Whether an account may start the app's own trial, and why not.
package enum TrialEligibility: Sendable, Hashable {
    /// It may.
    case eligible
    /// It may not.
    case refused(Reason)

    /// Why it may not. The raw values stay.
    package enum Reason: String, Sendable, Hashable, CaseIterable, NamedWords {
        /// See `NamedWords`.
        package static let schemaName = "TrialRefusal"

        /// The catalog offers none.
        case notOffered = "not_offered"
        /// The account has had it.
        case used = "trial_used"
        /// The account has access by something that was paid for.
        case subscribed = "active_subscription"
        /// The account has paid before.
        case paidBefore = "paid_before"
        /// The same download of the app, proven by its app transaction, has had it under another account.
        case usedOnDevice = "trial_used_on_device"
    }

    /// Whether it may.
    package var isEligible: Bool { self == .eligible }

    /// Why it may not; nil where it may.
    package var reason: Reason? {
        if case .refused(let reason) = self { reason } else { nil }
    }
}
