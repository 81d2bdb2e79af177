/// The status of an auto-renewable subscription at an instant.
public enum SubscriptionStatus: String, Sendable, Hashable, CaseIterable {
    /// In a period that costs nothing.
    case trial
    /// In a paid period, to be renewed.
    case active
    /// In a paid period, auto-renew off.
    case cancelled
    /// The charge failed; access goes on while Apple retries.
    case gracePeriod = "grace_period"
    /// The charge failed; Apple retries, without access.
    case billingRetry = "billing_retry"
    /// Over.
    case expired
    /// Refunded, or family sharing withdrawn.
    case revoked

    /// Whether the customer has access.
    public var access: Bool {
        switch self {
        case .trial, .active, .cancelled, .gracePeriod: true
        case .billingRetry, .expired, .revoked: false
        }
    }

    /// Whether a period gives the access: grace only follows one.
    var isPaid: Bool { access && self != .gracePeriod }

    /// Apple's number for it (`data.status`): 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
    public var appleStatus: Int {
        switch self {
        case .trial, .active, .cancelled: 1
        case .expired: 2
        case .billingRetry: 3
        case .gracePeriod: 4
        case .revoked: 5
        }
    }
}
