/// What is counted of a feature in a tier, and how much of it there is.
public struct CountedFeature: Sendable, Hashable {
    /// The feature's id.
    public var id: String
    /// What it is counted over.
    public var period: Catalog.UsagePeriod
    /// How much there is; nil where there is no limit.
    public var limit: Int64?

    /// A feature that is counted.
    public init(id: String, period: Catalog.UsagePeriod, limit: Int64?) {
        self.id = id
        self.period = period
        self.limit = limit
    }
}

extension Catalog {
    /// What is counted of a feature in a tier; nil where the tier does not have it, and where nobody counts it.
    ///
    /// What has no limit is counted as in the next lower tier that has one, else as in the next higher, and in total where no tier
    /// has one. So what somebody has used goes on counting when their tier changes.
    public func counting(of feature: Feature, in tier: String) -> CountedFeature? {
        switch feature.limit(in: tier) {
        case .no, .yes: return nil
        case .count(let limit, let period): return CountedFeature(id: feature.id, period: period, limit: limit)
        case .unlimited:
            let place = rank(of: tier) ?? 0
            let nearest = tiers.prefix(place).reversed() + tiers.dropFirst(place)
            for other in nearest {
                if case .count(_, let period) = feature.limit(in: other.id) {
                    return CountedFeature(id: feature.id, period: period, limit: nil)
                }
            }
            return CountedFeature(id: feature.id, period: .total, limit: nil)
        }
    }

    /// All that is counted in a tier, in the order of the features.
    public func counted(in tier: String) -> [CountedFeature] { features.compactMap { counting(of: $0, in: tier) } }
}
