/// An account's status at an instant; the raw values are those of the API and of SQL.
public enum AccountStatus: String, Sendable, Hashable, CaseIterable {
    /// Something gives access: a purchase, or a grant of staff's.
    case active
    /// In a trial: Apple's introductory one, or the app's own.
    case trial
    /// Paid for, and not to be renewed.
    case cancelled
    /// The charge failed; access goes on while Apple retries.
    case gracePeriod = "grace_period"
    /// The last source of access has ended, or is being retried without access.
    case expired
    /// The last source of access was a trial, and nothing was paid.
    case trialExpired = "trial_expired"
    /// Apple or staff took the last source of access back.
    case revoked
    /// Nothing ever gave access.
    case free

    /// Whether the account has what its tier gives.
    public var access: Bool {
        switch self {
        case .active, .trial, .cancelled, .gracePeriod: true
        case .expired, .trialExpired, .revoked, .free: false
        }
    }
}
