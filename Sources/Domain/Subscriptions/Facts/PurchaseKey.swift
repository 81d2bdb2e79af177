/// The key of everything about one purchase: nothing ever crosses apps or environments.
public struct PurchaseKey: Sendable, Hashable, Comparable {
    /// Apple's name of the environment (`Production`, `Sandbox`, …).
    public var environment: String
    /// The app's bundle identifier.
    public var bundleID: String
    /// The `originalTransactionId` that all renewals and restores of the purchase share.
    public var originalTransactionID: String

    /// Names a purchase.
    public init(environment: String, bundleID: String, originalTransactionID: String) {
        self.environment = environment
        self.bundleID = bundleID
        self.originalTransactionID = originalTransactionID
    }

    /// The order in which purchases are locked, everywhere, so that two workers never wait for each other.
    public static func < (a: PurchaseKey, b: PurchaseKey) -> Bool {
        (a.originalTransactionID, a.bundleID, a.environment) < (b.originalTransactionID, b.bundleID, b.environment)
    }
}
