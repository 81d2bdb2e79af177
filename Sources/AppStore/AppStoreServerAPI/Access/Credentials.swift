/// What an app needs to ask Apple.
public struct Credentials: Sendable {
    /// The app.
    public let bundleId: String
    /// The team's issuer id in App Store Connect.
    public let issuerId: String
    /// The key's id there.
    public let keyId: String
    /// The key.
    public let key: SigningKey

    /// Creates the value from its parts.
    public init(bundleId: String, issuerId: String, keyId: String, key: SigningKey) {
        self.bundleId = bundleId
        self.issuerId = issuerId
        self.keyId = keyId
        self.key = key
    }
}
