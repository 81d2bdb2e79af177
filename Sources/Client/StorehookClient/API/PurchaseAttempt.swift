/// What an app saw of an attempt to buy or to restore, for orders and figures.
public struct PurchaseAttempt: Sendable, Hashable {
    /// What was attempted.
    public enum Kind: String, Sendable, Hashable, Encodable {
        /// A purchase.
        case purchase
        /// Restoring what was bought before.
        case restore
    }

    /// How it ended.
    public enum Outcome: String, Sendable, Hashable, Encodable {
        /// It waits for approval.
        case pending
        /// The customer did not want it.
        case cancelled
        /// It failed.
        case failed
        /// It was done.
        case completed
        /// There was nothing to restore.
        case nothing
    }

    /// What was attempted.
    public var kind: Kind
    /// How it ended.
    public var outcome: Outcome
    /// Apple's id of the product; nil of restoring.
    public var productID: String?
    /// Why, in the app's words and without personal data; nil where there is nothing to say.
    public var reason: String?
    /// Apple's id of the transaction, where there is one.
    public var transactionID: String?

    /// An attempt.
    public init(
        _ kind: Kind, _ outcome: Outcome, productID: String? = nil, reason: String? = nil, transactionID: String? = nil
    ) {
        self.kind = kind
        self.outcome = outcome
        self.productID = productID
        self.reason = reason
        self.transactionID = transactionID
    }
}
