public import AppStorePayloads
public import Subscriptions

/// What one notification did to its line: a row of the timeline.
public struct StateChange: Sendable, Hashable {
    /// One column of the state, before and after.
    public struct Difference: Sendable, Hashable {
        /// The column's name, as in `storehook.status_at` and `storehook.subscriptions`, or `paid_until`.
        public var column: String
        /// Its value before; nil for SQL's NULL, or where there was no state.
        public var before: String?
        /// Its value after; nil for SQL's NULL.
        public var after: String?
    }

    /// The line.
    public var line: PurchaseKey
    /// The notification.
    public var notificationUUID: UniqueIdentifier
    /// When the notification was signed.
    public var signedAt: Timestamp
    /// What the line was, as of the last that had been heard of it; nil if it was not known.
    public var statusBefore: SubscriptionStatus?
    /// What the line is, as of the last that has been heard of it now.
    public var statusAfter: SubscriptionStatus
    /// What differs; empty for a notification that came too late to change anything.
    public var differences: [Difference]

    /// Compares what one saw of a line with what one sees.
    ///
    /// A state is a function of time, and part of a story is told by the clock alone: by the time Apple says "expired" the
    /// paid period is over already. So each state is looked at as of the latest instant that its own facts speak of
    /// (``PurchaseFacts/asOf``). Each change then begins where the one before it ended, and a notification that comes
    /// late moves nothing back.
    init(
        _ line: PurchaseKey, from seen: (state: SubscriptionState, at: Timestamp)?,
        to now: (state: SubscriptionState, at: Timestamp), by notification: NotificationPayload
    ) {
        self.line = line
        notificationUUID = notification.uuid
        signedAt = notification.signedDate
        let (before, after) = (seen?.state, now.state)
        let old = seen.map { $0.state.status(at: $0.at) }
        let new = after.status(at: now.at)
        statusBefore = old?.status
        statusAfter = new.status
        let columns: [(String, String?, String?)] = [
            ("status", old?.status.rawValue, new.status.rawValue),
            ("product_id", old?.productID, new.productID),
            ("expires_at", old?.expiresAt.description, new.expiresAt.description),
            ("paid_until", before?.paidUntil.description, after.paidUntil.description),
            ("in_trial", old?.inTrial.description, new.inTrial.description),
            ("will_renew", before?.willRenew?.description, after.willRenew?.description),
            ("renewal_product_id", before?.renewalProductID, after.renewalProductID),
            (
                "price_increase_pending", before?.priceIncreasePending.description,
                after.priceIncreasePending.description
            ),
            ("expiration_intent", before?.expirationIntent?.description, after.expirationIntent?.description),
            ("app_account_token", before?.appAccountToken?.description, after.appAccountToken?.description),
        ]
        differences = columns.compactMap { column, before, after in
            before == after ? nil : Difference(column: column, before: before, after: after)
        }
    }
}
