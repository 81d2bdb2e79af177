/// What is for sale, and what it gives: the answer of `GET /v1/products`.
public struct Catalog: Sendable, Hashable, Decodable {
    /// The products.
    public var products: [CatalogProduct]
    /// All tiers in rising order, sold or not, to be compared: what each gives of every feature.
    public var tiers: [CatalogTier]
    /// Whether this account may start the app's own trial.
    public var trial: TrialEligibility

    private enum CodingKeys: String, CodingKey {
        case products
        case tiers
        case trial
    }
}

extension Catalog {
    /// Reads an answer. What is missing is nil, empty or none.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        products = try members.value(.products)
        tiers = try members.value(.tiers)
        trial = try members.value(.trial)
    }
}
