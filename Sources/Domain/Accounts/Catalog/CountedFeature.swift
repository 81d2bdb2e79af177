/// How a feature is counted in a tier, and its limit.
public struct CountedFeature: Sendable, Hashable {
    /// The feature's id.
    public var id: String
    /// The period it is counted over.
    public var period: Catalog.UsagePeriod
    /// The limit; nil where there is none.
    public var limit: Int64?

    /// A feature that is counted.
    public init(id: String, period: Catalog.UsagePeriod, limit: Int64?) {
        self.id = id
        self.period = period
        self.limit = limit
    }
}

extension Catalog {
    /// How a feature is counted in a tier; nil where the tier does not have it, or it is not counted.
    ///
    /// A feature without a limit is counted as in the next lower tier with one, otherwise as in the next higher, and
    /// in total where no tier has one. So an account's count goes on when its tier changes.
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

    /// All counted features of a tier, in the order of the features.
    public func counted(in tier: String) -> [CountedFeature] { features.compactMap { counting(of: $0, in: tier) } }
}
