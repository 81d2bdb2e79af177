public import AppStorePayloads
public import Postgres

/// One verified notification on its way into the ledger.
public struct LedgerEntry: Sendable {
    /// A signed record and the SHA-256 of its JSON bytes.
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

    /// The stored row it came from.
    public var outboxID: Int64
    /// When it was stored.
    public var receivedAt: PostgresTimestamp
    /// The environment it was verified to belong to.
    public var environment: String
    /// The app it was verified to belong to.
    public var bundleID: String
    /// The outer payload.
    public var notification: NotificationPayload
    /// The nested transaction, if there is one.
    public var transaction: Signed<TransactionPayload>?
    /// The nested renewal info, if there is one.
    public var renewal: Signed<RenewalInfoPayload>?

    /// An entry.
    public init(
        outboxID: Int64, receivedAt: PostgresTimestamp, environment: String, bundleID: String,
        notification: NotificationPayload, transaction: Signed<TransactionPayload>?,
        renewal: Signed<RenewalInfoPayload>?
    ) {
        self.outboxID = outboxID
        self.receivedAt = receivedAt
        self.environment = environment
        self.bundleID = bundleID
        self.notification = notification
        self.transaction = transaction
        self.renewal = renewal
    }
}
