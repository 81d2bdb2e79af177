/// A transaction, and whether the device found its signature good.
public enum StoreResult: Sendable, Equatable {
    /// The signature is the store's.
    case verified(StoreTransaction)
    /// The signature is not the store's, for this reason: it gives nothing. The transaction is what was claimed, where it could be
    /// read.
    case unverified(StoreTransaction?, reason: String)
}
