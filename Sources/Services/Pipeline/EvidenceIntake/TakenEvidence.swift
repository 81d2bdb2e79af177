package import AppStorePayloads
package import PurchaseStore
package import Subscriptions

/// A record that was handed in and verified, and stands in the ledger.
package struct TakenEvidence: Sendable, Hashable {
    /// What Apple signed, or said.
    package enum Record: Sendable, Hashable {
        /// A transaction.
        case transaction(TransactionPayload)
        /// A renewal info.
        case renewal(RenewalInfoPayload)
        /// A receipt, or verifyReceipt's answer; no state is derived from it.
        case receipt
        /// An app transaction; no state is derived from it.
        case appTransaction(AppTransactionPayload)
    }

    /// Whether it was news, or is a duplicate: of something handed in or fetched before, or of another one in the same call.
    /// A notification that brought the same record makes it no duplicate; nothing changes by it all the same.
    package var outcome: LedgerOutcome
    /// The environment it was verified to belong to, in Apple's word; nil for a receipt.
    package var environment: String?
    /// The app it was verified to belong to; nil for a receipt.
    package var bundleID: String?
    /// The purchase it is about; nil for an app transaction and a receipt.
    package var purchase: PurchaseKey?
    /// What Apple signed, or said.
    package var record: Record

    /// The transaction, where it is one.
    package var transaction: TransactionPayload? {
        if case .transaction(let payload) = record { payload } else { nil }
    }
}
