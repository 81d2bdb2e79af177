public import AppStorePayloads
public import Base
public import Postgres
public import Subscriptions

/// One verified piece of evidence on its way into the ledger: a notification, or a record that came by itself.
///
/// It is an immutable object because it is passed on often: each copy of a value of its size would count up some
/// thirty references, and a batch copies each entry a dozen times.
public final class LedgerEntry: Sendable {
    /// A record, signed unless its evidence is unsigned by kind, and the SHA-256 of its JSON bytes.
    public struct Signed<Payload: Sendable>: Sendable {
        /// What Apple signed.
        public var payload: Payload
        /// SHA-256 of the payload's JSON bytes, 32 bytes.
        public var digest: [UInt8]

        /// A signed record.
        public init(_ payload: Payload, digest: [UInt8]) {
            self.payload = payload
            self.digest = digest
        }
    }

    /// How it is recognized when it arrives again.
    public enum Identity: Sendable, Hashable {
        /// A notification's UUID.
        case notification(UniqueIdentifier)
        /// The SHA-256 of a record that came by itself: of the JSON that was signed, of a receipt's bytes.
        case record(EvidenceKind, digest: [UInt8])
    }

    /// A record that came by itself.
    public enum Record: Sendable {
        /// A transaction.
        case transaction(Signed<TransactionPayload>)
        /// Renewal info.
        case renewal(Signed<RenewalInfoPayload>)
        /// An app transaction; no state is derived from it.
        case appTransaction(AppTransactionPayload, digest: [UInt8])
        /// A receipt; nothing is derived from it.
        case receipt(digest: [UInt8])
        /// A transaction of verifyReceipt's answer; its digest is that of the stored bytes.
        case receiptTransaction(Signed<TransactionPayload>)
        /// A renewal info of verifyReceipt's answer; its digest is that of the stored bytes.
        case receiptRenewal(Signed<RenewalInfoPayload>)
    }

    /// The stored row it came from.
    public let outboxID: Int64
    /// When it was stored.
    public let receivedAt: PostgresTimestamp
    /// Which way it came.
    public let source: EvidenceSource
    /// How it is recognized when it arrives again.
    public let identity: Identity
    /// The environment it was verified to belong to; nil for a receipt.
    public let environment: String?
    /// The app it was verified to belong to; nil for a receipt.
    public let bundleID: String?
    /// The outer payload; nil for a record that came by itself.
    public let notification: NotificationPayload?
    /// The transaction, if there is one.
    public let transaction: Signed<TransactionPayload>?
    /// The renewal info, if there is one.
    public let renewal: Signed<RenewalInfoPayload>?
    /// When it was signed as a whole, or, if unsigned, answered; nil for a receipt.
    public let signedAt: Timestamp?

    /// A notification.
    public init(
        outboxID: Int64, receivedAt: PostgresTimestamp, environment: String, bundleID: String,
        notification: NotificationPayload, transaction: Signed<TransactionPayload>?,
        renewal: Signed<RenewalInfoPayload>?, source: EvidenceSource = .webhook
    ) {
        self.outboxID = outboxID
        self.receivedAt = receivedAt
        self.environment = environment
        self.bundleID = bundleID
        self.notification = notification
        self.transaction = transaction
        self.renewal = renewal
        self.source = source
        identity = .notification(notification.uuid)
        signedAt = notification.signedDate
    }

    /// A record that came by itself.
    public init(
        outboxID: Int64, receivedAt: PostgresTimestamp, source: EvidenceSource, environment: String?,
        bundleID: String?, _ record: Record
    ) {
        self.outboxID = outboxID
        self.receivedAt = receivedAt
        self.source = source
        self.environment = environment
        self.bundleID = bundleID
        notification = nil
        switch record {
        case .transaction(let signed):
            identity = .record(.transaction, digest: signed.digest)
            (transaction, renewal) = (signed, nil)
            signedAt = signed.payload.signedDate
        case .renewal(let signed):
            identity = .record(.renewal, digest: signed.digest)
            (transaction, renewal) = (nil, signed)
            signedAt = signed.payload.signedDate
        case .appTransaction(let payload, let digest):
            identity = .record(.appTransaction, digest: digest)
            (transaction, renewal) = (nil, nil)
            signedAt = payload.effectiveSignedDate
        case .receipt(let digest):
            identity = .record(.receipt, digest: digest)
            (transaction, renewal, signedAt) = (nil, nil, nil)
        case .receiptTransaction(let record):
            identity = .record(.receiptTransaction, digest: record.digest)
            (transaction, renewal) = (record, nil)
            signedAt = record.payload.signedDate
        case .receiptRenewal(let record):
            identity = .record(.receiptRenewal, digest: record.digest)
            (transaction, renewal) = (nil, record)
            signedAt = record.payload.signedDate
        }
    }

    /// A copy for another row: evidence that was verified before it was stored.
    public init(_ entry: LedgerEntry, outboxID: Int64, receivedAt: PostgresTimestamp) {
        self.outboxID = outboxID
        self.receivedAt = receivedAt
        source = entry.source
        identity = entry.identity
        environment = entry.environment
        bundleID = entry.bundleID
        notification = entry.notification
        transaction = entry.transaction
        renewal = entry.renewal
        signedAt = entry.signedAt
    }

    /// What it is.
    public var kind: EvidenceKind {
        switch identity {
        case .notification: .notification
        case .record(let kind, _): kind
        }
    }
}
