public import Base

/// The `summary` part of a notification: the outcome of a mass extension of renewal dates.
public struct SummaryPart: Sendable, Hashable {
    /// The request that this answers.
    public var requestIdentifier: String?
    /// Where it was asked.
    public var environment: Environment?
    /// The app's Apple ID.
    public var appAppleId: Int64?
    /// The app.
    public var bundleId: String?
    /// The product extended.
    public var productId: String?
    /// The storefronts it was limited to (ISO 3166-1 alpha-3).
    public var storefrontCountryCodes: [String]?
    /// How many were extended.
    public var succeededCount: Int64?
    /// How many were not.
    public var failedCount: Int64?

    /// Creates the value from its parts; whatever Apple may leave out is absent unless given.
    public init(
        requestIdentifier: String? = nil,
        environment: Environment? = nil,
        appAppleId: Int64? = nil,
        bundleId: String? = nil,
        productId: String? = nil,
        storefrontCountryCodes: [String]? = nil,
        succeededCount: Int64? = nil,
        failedCount: Int64? = nil
    ) {
        self.requestIdentifier = requestIdentifier
        self.environment = environment
        self.appAppleId = appAppleId
        self.bundleId = bundleId
        self.productId = productId
        self.storefrontCountryCodes = storefrontCountryCodes
        self.succeededCount = succeededCount
        self.failedCount = failedCount
    }
}
