public import AppStorePayloads
public import Subscriptions

/// What one notification did to its line: a row of the timeline.
public struct StateChange: Sendable, Hashable {
    /// One column of the state, before and after.
    public struct Difference: Sendable, Hashable {
        /// The column's name, as in `storehook.status_at`.
        public var column: String
        /// Its value before; nil for SQL's NULL, or where there was no state.
        public var before: String?
        /// Its value after; nil for SQL's NULL.
        public var after: String?
    }

    /// The line.
    public var line: PurchaseLine
    /// The notification.
    public var notificationUUID: UniqueIdentifier
    /// The instant at which before and after are compared: when the notification was signed.
    public var signedAt: Timestamp
    /// The status by the facts before; nil if the line was not known.
    public var statusBefore: SubscriptionStatus?
    /// The status by the facts after.
    public var statusAfter: SubscriptionStatus
    /// What differs; empty for a notification that came too late to change anything.
    public var differences: [Difference]

    /// Compares a line's states at the instant that the notification was signed.
    init(
        _ line: PurchaseLine, from before: SubscriptionState?, to after: SubscriptionState,
        by notification: NotificationPayload
    ) {
        self.line = line
        notificationUUID = notification.uuid
        signedAt = notification.signedDate
        let old = before?.status(at: signedAt)
        let new = after.status(at: signedAt)
        statusBefore = old?.status
        statusAfter = new.status
        let columns: [(String, String?, String?)] = [
            ("status", old?.status.rawValue, new.status.rawValue),
            ("product_id", old?.productID, new.productID),
            ("expires_at", old?.expiresAt.description, new.expiresAt.description),
            ("in_trial", old?.inTrial.description, new.inTrial.description),
            ("will_renew", before?.willRenew?.description, after.willRenew?.description),
            ("renewal_product_id", before?.renewalProductID, after.renewalProductID),
            (
                "price_increase_pending", before?.priceIncreasePending.description,
                after.priceIncreasePending.description
            ),
            ("app_account_token", before?.appAccountToken?.description, after.appAccountToken?.description),
        ]
        differences = columns.compactMap { column, before, after in
            before == after ? nil : Difference(column: column, before: before, after: after)
        }
    }
}
