extension FeatureRules {
    /// The rules of a catalog, as `GET /v1/products` answers it. An app may bring one along, for its first start without a network.
    public init(_ catalog: Catalog) {
        let all = catalog.tiers.flatMap(\.features)
        // The answer does not say of what is unlimited whether it is counted: it is where a unit is named, or another tier counts it.
        let counted = Set(all.filter { $0.limit != nil || $0.unit != nil }.map(\.feature))
        tiers = catalog.tiers.map { tier in
            Tier(
                id: tier.tier, name: tier.name,
                limits: Dictionary(
                    tier.features.map { ($0.feature, FeatureLimit($0, isCounted: counted.contains($0.feature))) },
                    uniquingKeysWith: { first, _ in first }))
        }
        features = (catalog.tiers.first?.features ?? []).map {
            Feature(id: $0.feature, name: $0.name ?? $0.feature, unit: $0.unit)
        }
    }
}

extension FeatureLimit {
    init(_ answer: TierFeature, isCounted: Bool) {
        if let most = answer.limit {
            self = .count(most, per: answer.period.flatMap { Period(rawValue: $0.rawValue) } ?? .total)
        } else if answer.allowed {
            self = isCounted ? .unlimited : .open
        } else {
            self = .closed
        }
    }
}
