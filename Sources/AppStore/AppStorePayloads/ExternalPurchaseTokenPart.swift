public import Base

/// The `externalPurchaseToken` part of a notification. It has no environment field of its own.
public struct ExternalPurchaseTokenPart: Sendable, Hashable {
    /// The token; begins with `SANDBOX` in Sandbox.
    public var externalPurchaseId: String?
    /// When it was made.
    public var tokenCreationDate: Timestamp?
    /// The app's Apple ID.
    public var appAppleId: Int64?
    /// The app.
    public var bundleId: String?
    /// When it ends.
    public var tokenExpirationDate: Timestamp?
    /// The kind of token, as Apple writes it.
    public var tokenType: String?

    /// Creates the value from its parts; whatever Apple may leave out is absent unless given.
    public init(
        externalPurchaseId: String? = nil,
        tokenCreationDate: Timestamp? = nil,
        appAppleId: Int64? = nil,
        bundleId: String? = nil,
        tokenExpirationDate: Timestamp? = nil,
        tokenType: String? = nil
    ) {
        self.externalPurchaseId = externalPurchaseId
        self.tokenCreationDate = tokenCreationDate
        self.appAppleId = appAppleId
        self.bundleId = bundleId
        self.tokenExpirationDate = tokenExpirationDate
        self.tokenType = tokenType
    }
}
