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

extension FeatureList {
    /// Reads an answer. What is missing is nil, empty or none, but for `tier`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        features = try members.value(.features)
        tier = try members.decode(String.self, forKey: .tier)
        tierName = try members.value(.tierName)
    }
}
