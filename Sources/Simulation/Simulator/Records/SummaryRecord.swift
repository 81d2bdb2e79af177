/// The part `summary` of a notification: how a mass extension ended.
public struct SummaryRecord: Sendable, Hashable, Codable {
    /// The request that the seller made, a UUID.
    public var requestIdentifier: String
    /// `Sandbox` or `Production`.
    public var environment: String
    /// The App Store's number for the app.
    public var appAppleId: Int64?
    /// The app.
    public var bundleId: String
    /// The product whose subscribers were extended.
    public var productId: String
    /// The countries concerned; none means all.
    public var storefrontCountryCodes: [String]?
    /// How many were extended.
    public var succeededCount: Int64
    /// How many could not be.
    public var failedCount: Int64

    func write(_ json: inout JSONObjectWriter) {
        json.member("requestIdentifier", requestIdentifier)
        json.member("environment", environment)
        json.member("appAppleId", appAppleId)
        json.member("bundleId", bundleId)
        json.member("productId", productId)
        json.member("storefrontCountryCodes", storefrontCountryCodes)
        json.member("succeededCount", succeededCount)
        json.member("failedCount", failedCount)
    }
}
