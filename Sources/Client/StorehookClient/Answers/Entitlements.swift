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

extension Entitlements {
    /// Reads an answer. What is missing is nil, empty or none, but for `tier`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        environment = try members.value(.environment)
        products = try members.value(.products)
        tier = try members.decode(String.self, forKey: .tier)
        tiers = try members.value(.tiers)
        version = try members.value(.version)
    }
}
