public import AppStorePayloads

/// What a subscription is at one instant, and the period that makes it so.
public struct StatusAtInstant: Sendable, Hashable {
    /// The status.
    public let status: SubscriptionStatus
    /// The product of the deciding period.
    public let productID: String?
    /// When what was paid for ends, or ended.
    public let expiresAt: Timestamp
    /// Whether the deciding period is a free trial, auto-renew on or off.
    public let inTrial: Bool

    init(_ status: SubscriptionStatus, in period: Period) {
        self.status = status
        productID = period.record.productID
        expiresAt = period.end
        inTrial = period.record.isFreeTrial && status.access
    }
}
