/// What the account may use of every feature: the answer of `GET /v1/features`.
public struct FeatureList: Sendable, Hashable, Decodable {
    /// In the catalog's order.
    public var features: [FeatureAnswer]
    /// The tier.
    public var tier: String
    /// What customers call the tier.
    public var tierName: String

    private enum CodingKeys: String, CodingKey {
        case features
        case tier
        case tierName
    }
}
