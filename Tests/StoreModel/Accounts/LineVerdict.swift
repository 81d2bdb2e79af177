/// What a line is at an instant.
package struct LineVerdict: Sendable, Hashable {
    /// The names that users see.
    package enum Status: String, Sendable, Hashable {
        case trial, active, cancelled
        case gracePeriod = "grace_period"
        case billingRetry = "billing_retry"
        case expired, revoked

        /// Whether the customer may use what was bought.
        package var access: Bool {
            switch self {
            case .trial, .active, .cancelled, .gracePeriod: true
            case .billingRetry, .expired, .revoked: false
            }
        }

        /// What Apple calls it.
        var apple: Int {
            switch self {
            case .trial, .active, .cancelled: 1
            case .expired: 2
            case .billingRetry: 3
            case .gracePeriod: 4
            case .revoked: 5
            }
        }
    }

    /// A stretch of access that is known of at the instant, by one product.
    package struct Access: Sendable, Hashable {
        /// What gives it.
        package var product: String
        /// When it ends, in epoch milliseconds.
        package var until: Int64
    }

    /// The status.
    package var status: Status
    /// The period that gives it.
    package var period: LinePeriod
    /// Whether Apple's free introductory period runs, or its renewal is waited for.
    package var inTrial = false
    /// Whether the period has ended, and its renewal is waited for.
    package var isWaiting = false
    /// With access, what follows upon each other without a gap, the running one first.
    package var ahead: [Access] = []
}
