/// What a piece of evidence is. The raw values are stored and sent, so they never change.
public enum EvidenceKind: String, Sendable, Hashable, CaseIterable {
    /// A notification of Apple's, with the records in it.
    case notification
    /// A signed transaction by itself (`signedTransactionInfo`, or what StoreKit hands to an app).
    case transaction
    /// A signed renewal info by itself (`signedRenewalInfo`).
    case renewal
    /// A signed app transaction by itself.
    case appTransaction = "app_transaction"
    /// An old receipt, or (from ``EvidenceSource/api``) verifyReceipt's unsigned answer to one. It is kept whole and
    /// parked: no state is derived from it as such.
    case receipt
    /// One transaction of such an answer, for an app that has no Server API key. Any record of the same transaction
    /// that Apple signed takes precedence over it.
    case receiptTransaction = "receipt_transaction"
    /// The renewal info of such an answer, with the same precedence.
    case receiptRenewal = "receipt_renewal"

    /// Whether state is derived from it although it carries no signature.
    public var isUnsigned: Bool { self == .receiptTransaction || self == .receiptRenewal }
}
