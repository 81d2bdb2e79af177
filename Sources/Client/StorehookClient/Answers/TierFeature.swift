/// What a tier gives of a feature.
public struct TierFeature: Sendable, Hashable, Decodable {
    /// Whether it may be used.
    public var allowed: Bool
    /// The feature's id.
    public var feature: String
    /// Whether there is no limit.
    public var isUnlimited: Bool
    /// How much in a period; nil where there is no limit.
    public var limit: Int64?
    /// What customers call it.
    public var name: String?
    /// How long it lasts each time, or is counted over.
    public var period: UsagePeriod?
    /// What is counted.
    public var unit: String?

    private enum CodingKeys: String, CodingKey {
        case allowed
        case feature
        case isUnlimited
        case limit
        case name
        case period
        case unit
    }
}

extension TierFeature {
    /// Reads an answer. What is missing is nil, empty or none, but for `allowed`, `feature`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        allowed = try members.decode(Bool.self, forKey: .allowed)
        feature = try members.decode(String.self, forKey: .feature)
        isUnlimited = try members.value(.isUnlimited)
        limit = try members.decodeIfPresent(Int64.self, forKey: .limit)
        name = try members.decodeIfPresent(String.self, forKey: .name)
        period = try members.decodeIfPresent(UsagePeriod.self, forKey: .period)
        unit = try members.decodeIfPresent(String.self, forKey: .unit)
    }
}
