/// A purchase's status.
public enum PurchaseStatus: ServerWords {
    /// A trial.
    case trial
    /// It runs, and renews itself as far as is known.
    case active
    /// It does not renew itself; access goes on until its end.
    case cancelled
    /// The renewal failed; access goes on while Apple tries again.
    case gracePeriod
    /// The renewal failed, and Apple tries again; it gives no access.
    case billingRetry
    /// It has ended.
    case expired
    /// The trial has ended.
    case trialExpired
    /// It was taken back: refunded, revoked or blocked.
    case revoked
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [
        .trial, .active, .cancelled, .gracePeriod, .billingRetry, .expired, .trialExpired, .revoked,
    ]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .trial: "trial"
        case .active: "active"
        case .cancelled: "cancelled"
        case .gracePeriod: "grace_period"
        case .billingRetry: "billing_retry"
        case .expired: "expired"
        case .trialExpired: "trial_expired"
        case .revoked: "revoked"
        case .unknown(let word): word
        }
    }
}
