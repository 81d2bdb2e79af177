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
