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
