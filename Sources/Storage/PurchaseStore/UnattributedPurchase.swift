/// A purchase as a renewal info names it: without the app.
public struct UnattributedPurchase: Sendable, Hashable {
    /// Apple's name of the environment.
    public var environment: String
    /// The first transaction of the purchase.
    public var originalTransactionID: String

    /// Memberwise.
    public init(environment: String, originalTransactionID: String) {
        self.environment = environment
        self.originalTransactionID = originalTransactionID
    }
}
