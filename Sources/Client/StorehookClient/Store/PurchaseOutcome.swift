/// How a purchase ended at the store.
public enum PurchaseOutcome: Sendable, Equatable {
    /// It was made.
    case success(StoreResult)
    /// Somebody else has to agree, or the bank: it comes by `updates`, or never.
    case pending
    /// The customer does not want it.
    case cancelled
}
