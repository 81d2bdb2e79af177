public import AppStorePayloads
public import Base

/// One piece of evidence about a purchase, with what its story needs beside the facts. A story needs all pieces, in
/// any order.
public struct PurchaseEvidence: Sendable, Hashable {
    /// The notification that brought it; nil for a record that came by itself.
    public var notificationUUID: UniqueIdentifier?
    /// What happened, in Apple's word; nil for a record that came by itself.
    public var type: NotificationType?
    /// More about it, in Apple's word.
    public var subtype: NotificationSubtype?
    /// When it was signed: the outer signedDate of a notification, the record's own otherwise.
    public var signedAt: Timestamp
    /// The status that Apple reported.
    public var reportedStatus: ReportedStatus?
    /// The fact in its transaction.
    public var transaction: TransactionFact?
    /// The fact in its renewal info.
    public var renewal: RenewalFact?
    /// What the transaction cost, by its latest-signed record.
    public var price: Money?
    /// Why the customer asks for a refund, in Apple's word.
    public var consumptionRequestReason: String?

    /// Memberwise.
    public init(
        notificationUUID: UniqueIdentifier? = nil, type: NotificationType? = nil, subtype: NotificationSubtype? = nil,
        signedAt: Timestamp, reportedStatus: ReportedStatus? = nil, transaction: TransactionFact? = nil,
        renewal: RenewalFact? = nil, price: Money? = nil, consumptionRequestReason: String? = nil
    ) {
        self.notificationUUID = notificationUUID
        self.type = type
        self.subtype = subtype
        self.signedAt = signedAt
        self.reportedStatus = reportedStatus
        self.transaction = transaction
        self.renewal = renewal
        self.price = price
        self.consumptionRequestReason = consumptionRequestReason
    }

    /// Merges its records into the facts.
    public func merge(into facts: inout PurchaseFacts) {
        if let transaction { facts.merge(transaction) }
        if let renewal { facts.merge(renewal) }
        if let reportedStatus { facts.merge(reportedStatus) }
    }

    /// Whether this comes first in a story: by signing. When or how the evidence arrived does not matter.
    func isTold(before other: PurchaseEvidence) -> Bool {
        if signedAt != other.signedAt { return signedAt < other.signedAt }
        if let own = notificationUUID, let others = other.notificationUUID { return own < others }
        if (notificationUUID == nil) != (other.notificationUUID == nil) { return notificationUUID != nil }
        return digests.lexicographicallyPrecedes(other.digests)
    }

    private var digests: [UInt8] { recordDigests.flatMap(\.self) }

    /// The digests that identify its records.
    var recordDigests: [[UInt8]] { [transaction?.digest, renewal?.digest].compactMap(\.self) }

    /// The digest that identifies a record that came by itself; nil for a notification.
    public var loneDigest: [UInt8]? { notificationUUID == nil ? recordDigests.first : nil }

    /// Whether its records count beside what Apple has signed.
    func counts(beside signed: SignedWord) -> Bool {
        transaction.map { signed.letsCount($0) } ?? true && renewal.map { signed.letsCount($0) } ?? true
    }

    /// The instant that it is about: its signature, or the date of its purchase or refund where Apple's clocks put
    /// that a moment later. A purchase that is dated a second after its own signature has begun.
    var instant: Timestamp {
        let latest = signedAt.adding(seconds: StatusPolicy.clockDifferenceSeconds)
        return [transaction?.purchasedAt, transaction?.revokedAt].compactMap(\.self)
            .filter { $0 > signedAt && $0 <= latest }.max() ?? signedAt
    }
}
