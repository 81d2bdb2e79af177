/// What a piece of evidence is. The raw values are names that others build on: they never change.
public enum EvidenceKind: String, Sendable, Hashable, CaseIterable {
    /// A notification of Apple's, with the records in it.
    case notification
    /// A signed transaction by itself (`signedTransactionInfo`, or what StoreKit hands to an app).
    case transaction
    /// A signed renewal info by itself (`signedRenewalInfo`).
    case renewal
    /// A signed app transaction by itself.
    case appTransaction = "app_transaction"
    /// An old receipt, or (from ``EvidenceSource/api``) verifyReceipt's answer to one, which nobody signs. It is kept whole, and
    /// parked: no state comes of it as such.
    case receipt
    /// What such an answer says of one transaction, for an app that has no Server API key: weaker than any record of the same
    /// transaction that Apple signed.
    case receiptTransaction = "receipt_transaction"
    /// What such an answer says of a subscription's future, in the same way.
    case receiptRenewal = "receipt_renewal"

    /// Whether state comes of it although nobody signed it.
    public var isUnsigned: Bool { self == .receiptTransaction || self == .receiptRenewal }
}
