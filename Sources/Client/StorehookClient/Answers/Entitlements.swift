/// What the account may use now: the answer of `GET /v1/entitlements`.
public struct Entitlements: Sendable, Hashable, Decodable {
    /// Apple's environment.
    public var environment: Environment
    /// The purchases that give access.
    public var products: [ProductEntitlement]
    /// The highest tier that the account has.
    public var tier: String
    /// All tiers that it has, in rising order.
    public var tiers: [TierEntitlement]
    /// Grows with each change.
    public var version: Int64

    private enum CodingKeys: String, CodingKey {
        case environment
        case products
        case tier
        case tiers
        case version
    }
}
