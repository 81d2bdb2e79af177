public import AppStorePayloads
public import Base

/// What happened to a purchase, in the order in which Apple signed it. It depends on the evidence alone, not on the
/// order of arrival. When each thing was learned is another question.
public struct PurchaseStory: Sendable, Hashable {
    /// What one piece of evidence contributes.
    public struct Entry: Sendable, Hashable {
        /// The notification; nil for a record that came by itself.
        public var notificationUUID: UniqueIdentifier?
        /// What happened, in Apple's word.
        public var type: NotificationType?
        /// More about it, in Apple's word.
        public var subtype: NotificationSubtype?
        /// The digest of the record, where that came by itself; nil for a notification.
        public var recordDigest: [UInt8]?
        /// The transaction that it is about.
        public var transactionID: String?
        /// When Apple signed it.
        public var signedAt: Timestamp
        /// What it changed, the most important first; never empty.
        public var changes: [PurchaseChange]
        /// What it changed, for people: at most ``wordsWidth`` characters.
        public var words: String
        /// The status at the entry before, by all facts known now; nil where there was none.
        public var before: SubscriptionStatus?
        /// The status at this instant, by all facts known now; nil for what is not a subscription.
        public var after: StatusAtInstant?
    }

    /// How wide an entry's words are at the most.
    public static let wordsWidth = 70

    /// The entries, in the order of signing.
    public let entries: [Entry]

    /// Builds the story.
    /// - Parameters:
    ///   - evidence: all evidence about one purchase, in any order.
    ///   - purchase: its key; the app's name shortens the names of products.
    public init(
        _ evidence: some Sequence<PurchaseEvidence>, of purchase: PurchaseKey, policy: StatusPolicy = StatusPolicy()
    ) {
        let evidence = evidence.sorted { $0.isTold(before: $1) }
        var facts = PurchaseFacts()
        for piece in evidence { piece.merge(into: &facts) }
        let derived = PurchaseState(facts, in: purchase.environment, policy: policy)
        let state = derived.subscription
        // A record that a notification brought is shown there, whichever was signed first: the
        // notification knows more.
        let notified = Set(evidence.filter { $0.notificationUUID != nil }.flatMap(\.recordDigests))
        let signed = SignedWord(facts)
        var told = TimelineBuilder(derived.rules.periods)
        var before: SubscriptionStatus?
        entries = evidence.map { piece in
            let after = state?.status(at: piece.instant)
            defer { before = after?.status }
            let isTold = piece.loneDigest.map(notified.contains) ?? false || !piece.counts(beside: signed)
            let changes = isTold ? [PurchaseChange(.nothingNew)] : told.take(piece, after)
            return Entry(
                notificationUUID: piece.notificationUUID, type: piece.type, subtype: piece.subtype,
                recordDigest: piece.loneDigest, transactionID: piece.transaction?.transactionID,
                signedAt: piece.signedAt, changes: changes,
                words: StoryWords(at: piece.signedAt, bundleID: purchase.bundleID).text(changes), before: before,
                after: after)
        }
    }
}
