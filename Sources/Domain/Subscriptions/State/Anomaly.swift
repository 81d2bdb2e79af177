import AppStorePayloads
public import Base

/// Something about a purchase that its records do not explain: a notification is missing, or a rule is wrong.
public struct Anomaly: Sendable, Hashable {
    /// What it is.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Apple reported another status than the records give.
        case statusContradicted = "status_contradicted"
        /// Renewal info names the end of a period whose transaction never arrived.
        case periodMissing = "period_missing"
        /// An upgrade never arrived: a transaction says that one replaced it, or Apple's latest renewal info names another
        /// known period than the one that decides by the records.
        case upgradeMissing = "upgrade_missing"
        /// A transaction without a kind, or a subscription's without a date: it gives nothing.
        case transactionUnusable = "transaction_unusable"
        /// A transaction of a non-consumable that may be a purchase after a refund, or a copy of what was refunded: it
        /// counts as a copy.
        case purchaseUnclear = "purchase_unclear"
        /// A transaction that turned up under more than one originalTransactionId; the latest-signed record says whose it is.
        case transactionShared = "transaction_shared"
    }

    /// What it is.
    public var kind: Kind
    /// When Apple signed what shows it.
    public var signedAt: Timestamp
    /// The transaction that shows it, where it is one.
    public var transactionID: String?
    /// The status that Apple reported, 1 to 5, where it is about one.
    public var reportedStatus: Int?
    /// The status that the records give, 1 to 5, where it is about one; nil where they give none.
    public var derivedStatus: Int?

    /// An anomaly.
    public init(
        _ kind: Kind, signedAt: Timestamp, transactionID: String? = nil, reportedStatus: Int? = nil,
        derivedStatus: Int? = nil
    ) {
        self.kind = kind
        self.signedAt = signedAt
        self.transactionID = transactionID
        self.reportedStatus = reportedStatus
        self.derivedStatus = derivedStatus
    }
}
