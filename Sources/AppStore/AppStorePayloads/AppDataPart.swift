public import Base

/// The `appData` part of a notification: about the app itself, not a purchase.
public struct AppDataPart: Sendable, Hashable {
    /// Where it happened.
    public var environment: Environment?
    /// The app.
    public var bundleId: String?
    /// The app's Apple ID.
    public var appAppleId: Int64?
    /// A JWS of its own: the app transaction.
    public var signedAppTransactionInfo: String?

    /// Creates the value from its parts; whatever Apple may leave out is absent unless given.
    public init(
        environment: Environment? = nil,
        bundleId: String? = nil,
        appAppleId: Int64? = nil,
        signedAppTransactionInfo: String? = nil
    ) {
        self.environment = environment
        self.bundleId = bundleId
        self.appAppleId = appAppleId
        self.signedAppTransactionInfo = signedAppTransactionInfo
    }
}
