public import AppStorePayloads
public import Base

/// A notification whose every signature, certificate and claim has been checked.
public struct VerifiedNotification: Sendable, Hashable {
    /// The notification.
    public let payload: NotificationPayload
    /// The app it is about: one of those served.
    public let bundleId: String
    /// The environment it is about: one of those served.
    public let environment: Environment
    /// The transaction in it.
    public let transaction: TransactionPayload?
    /// The renewal info in it.
    public let renewal: RenewalInfoPayload?
    /// The app transaction in it.
    public let appTransaction: AppTransactionPayload?
    /// The SHA-256 of each signed part's JSON text.
    public let digests: Digests

    /// The SHA-256 of each signed part's JSON text: it breaks the tie between two records of one key that were signed
    /// in one millisecond.
    public struct Digests: Sendable, Hashable {
        /// Of the transaction.
        public let transaction: Fingerprint?
        /// Of the renewal info.
        public let renewal: Fingerprint?
        /// Of the app transaction.
        public let appTransaction: Fingerprint?
    }
}
