/// What the account has used of all that is counted: the answer of `GET /v1/usage/current`.
public struct CurrentUsage: Sendable, Hashable, Decodable {
    /// The tier.
    public var tier: String
    /// The features that are counted, in the catalog's order.
    public var usage: [FeatureAnswer]

    private enum CodingKeys: String, CodingKey {
        case tier
        case usage
    }
}

extension CurrentUsage {
    /// Reads an answer. What is missing is nil, empty or none, but for `tier`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        tier = try members.decode(String.self, forKey: .tier)
        usage = try members.value(.usage)
    }
}
