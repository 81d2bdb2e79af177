/// What an account's status means to its screens.
enum PlanStatus: Sendable, Hashable, CaseIterable {
    case active, trial, cancelled, gracePeriod, billingRetry, expired, trialExpired, revoked, free
    /// A word that this release does not know.
    case unknown

    /// What people read, where the server's own text is not at hand.
    var key: TextKey {
        switch self {
        case .active: .statusActive
        case .trial: .statusTrial
        case .cancelled: .statusCancelled
        case .gracePeriod: .statusGracePeriod
        case .billingRetry: .statusBillingRetry
        case .expired: .statusExpired
        case .trialExpired: .statusTrialExpired
        case .revoked: .statusRevoked
        case .free: .statusFree
        case .unknown: .statusUnknown
        }
    }
}
