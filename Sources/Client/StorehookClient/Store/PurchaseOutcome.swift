/// How a purchase ended at the store.
public enum PurchaseOutcome: Sendable, Equatable {
    /// It was made.
    case success(StoreResult)
    /// A parent (Ask to Buy) or the bank has to approve it: it comes by `updates`, or never.
    case pending
    /// The customer does not want it.
    case cancelled
}
