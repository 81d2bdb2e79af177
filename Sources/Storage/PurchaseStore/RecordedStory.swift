public import AppStorePayloads
public import Base
public import Subscriptions

/// A purchase's story from the database, and when each piece of it was learned.
public struct RecordedStory: Sendable, Hashable {
    /// One entry of the story, and when it was learned.
    public struct Entry: Sendable, Hashable {
        /// What happened.
        public var recorded: PurchaseStory.Entry
        /// When it was learned, and from what; nil only if it is not recorded.
        public var learned: Learned?
    }

    /// When something was learned, and from what.
    public struct Learned: Sendable, Hashable {
        /// The kind of evidence.
        public var kind: EvidenceKind
        /// Which way it came the first time.
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

/// The state of a purchase as derived once a piece of evidence had been applied, for audits.
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
    /// When it was learned, and from what; nil only if it is not recorded.
    public let learned: RecordedStory.Learned?
    /// The latest signature among all evidence known by then: `believed` is as of it.
    public let asOf: Timestamp
    /// The status derived then; nil where no subscription was known.
    public let believed: StatusAtInstant?
}
