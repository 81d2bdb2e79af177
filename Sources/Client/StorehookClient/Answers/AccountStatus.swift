/// An account's status.
public enum AccountStatus: ServerWords {
    /// It runs, and renews itself as far as is known.
    case active
    /// A trial.
    case trial
    /// It does not renew itself; access goes on until its end.
    case cancelled
    /// The renewal failed; access goes on while Apple tries again.
    case gracePeriod
    /// It has ended.
    case expired
    /// The trial has ended.
    case trialExpired
    /// It was taken back: refunded, revoked or blocked.
    case revoked
    /// It has what everybody has.
    case free
    /// A word of a later release of the server.
    case unknown(String)

    /// Those that this release knows.
    public static let words: [Self] = [
        .active, .trial, .cancelled, .gracePeriod, .expired, .trialExpired, .revoked, .free,
    ]

    /// The word, as the server writes it.
    public var rawValue: String {
        switch self {
        case .active: "active"
        case .trial: "trial"
        case .cancelled: "cancelled"
        case .gracePeriod: "grace_period"
        case .expired: "expired"
        case .trialExpired: "trial_expired"
        case .revoked: "revoked"
        case .free: "free"
        case .unknown(let word): word
        }
    }
}
