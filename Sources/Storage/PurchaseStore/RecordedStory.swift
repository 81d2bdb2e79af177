public import AppStorePayloads
public import Base
public import Subscriptions

/// A purchase's story out of the database, and when each piece of it was learned.
public struct RecordedStory: Sendable, Hashable {
    /// What one piece of evidence tells, and when it was learned.
    public struct Entry: Sendable, Hashable {
        /// What happened.
        public var told: PurchaseStory.Entry
        /// When it was learned, and by what; nil only for what is not recorded.
        public var learned: Learned?
    }

    /// When something was learned, and by what.
    public struct Learned: Sendable, Hashable {
        /// By what kind of evidence.
        public var kind: EvidenceKind
        /// Which way that came the first time.
        public var source: EvidenceSource
        /// When it was stored.
        public var receivedAt: Timestamp
        /// When it took effect.
        public var appliedAt: Timestamp
        /// Applied, or parked.
        public var outcome: LedgerOutcome
    }

    /// The purchase.
    public let purchase: PurchaseKey
    /// The entries, in the order of signing.
    public let entries: [Entry]
}

/// What was believed of a purchase once a piece of evidence had been applied, for audits.
public struct RecordedBelief: Sendable, Hashable {
    /// The purchase.
    public let purchase: PurchaseKey
    /// The notification that was applied; nil for a record that came by itself.
    public let notificationUUID: UniqueIdentifier?
    /// What happened, in Apple's word.
    public let type: NotificationType?
    /// More about it, in Apple's word.
    public let subtype: NotificationSubtype?
    /// When Apple signed it.
    public let signedAt: Timestamp
    /// When it was learned, and by what; nil only for what is not recorded.
    public let learned: RecordedStory.Learned?
    /// The latest instant at which Apple had said anything that was known by then: `believed` is as of it.
    public let asOf: Timestamp
    /// What the subscription was believed to be; nil for what was not known as one.
    public let believed: StatusAtInstant?
}
