/// What StoreKit declares of the App Store itself.
public enum AppStore {
    /// Asks the App Store for everything that the customer has bought.
    public static func sync() async throws {}
}
