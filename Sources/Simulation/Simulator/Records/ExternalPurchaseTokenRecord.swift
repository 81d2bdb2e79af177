/// The part `externalPurchaseToken` of a notification. It has no environment: in the Sandbox the identifier begins with `SANDBOX`.
public struct ExternalPurchaseTokenRecord: Sendable, Hashable, Codable {
    /// The token's identifier.
    public var externalPurchaseId: String
    /// When the token came into being.
    public var tokenCreationDate: Milliseconds
    /// The App Store's number for the app.
    public var appAppleId: Int64
    /// The app.
    public var bundleId: String
    /// When the token ends; only custom links have one.
    public var tokenExpirationDate: Milliseconds?
    /// `ACQUISITION` or `SERVICES`, for custom links.
    public var tokenType: String?

    func write(_ json: inout JSONObjectWriter) {
        json.member("externalPurchaseId", externalPurchaseId)
        json.member("tokenCreationDate", tokenCreationDate)
        json.member("appAppleId", appAppleId)
        json.member("bundleId", bundleId)
        json.member("tokenExpirationDate", tokenExpirationDate)
        json.member("tokenType", tokenType)
    }
}
