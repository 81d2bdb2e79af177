/// A tier of the catalog, and what it gives.
public struct CatalogTier: Sendable, Hashable, Decodable {
    /// In the catalog's order.
    public var features: [TierFeature]
    /// What customers call it.
    public var name: String
    /// The tier.
    public var tier: String

    private enum CodingKeys: String, CodingKey {
        case features
        case name
        case tier
    }
}

extension CatalogTier {
    /// Reads an answer. What is missing is nil, empty or none, but for `tier`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        features = try members.value(.features)
        name = try members.value(.name)
        tier = try members.decode(String.self, forKey: .tier)
    }
}
