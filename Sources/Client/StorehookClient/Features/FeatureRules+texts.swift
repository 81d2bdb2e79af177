extension FeatureRules {
    /// What an app shows where a feature may not be used, as the server's `upgradePrompt` says it.
    /// - Parameter tier: the account's; nil is the first tier.
    func prompt(
        _ restriction: FeatureRestriction, of feature: String, in tier: String?, _ texts: ClientTexts
    ) -> String {
        let name = name(ofFeature: feature)
        switch restriction {
        case .tierRequired(let required?):
            return texts(.gateTierRequired, ["tier": self.name(ofTier: required), "feature": name])
        case .tierRequired(nil): return texts(.gateNotInAnyTier, ["feature": name])
        case .limitReached(let limit, _, let required):
            let keys: (more: TextKey, last: TextKey)
            switch period(of: feature, in: tier) {
            case .day: keys = (.gateLimitDay, .gateLimitDayLast)
            case .month: keys = (.gateLimitMonth, .gateLimitMonthLast)
            case .total: keys = (.gateLimitTotal, .gateLimitTotalLast)
            }
            var values = ["feature": name, "amount": texts.amount(limit, unit: self.feature(feature)?.unit)]
            values["tier"] = required.map { self.name(ofTier: $0) }
            return texts(required == nil ? keys.last : keys.more, count: limit, values)
        case .notKnown: return texts(.gateNotKnown)
        }
    }

    /// What an app shows while little of a feature is left; nil while more is, and where nothing limits it.
    /// - Parameters:
    ///   - used: how much was used.
    ///   - share: from which share of the limit on; at least one use has to be over.
    func warning(
        of feature: String, in tier: String?, used: Int64, from share: Double, _ texts: ClientTexts
    ) -> String? {
        guard let limit = limit(of: feature, in: tier), let most = limit.most, limit.isOpen else { return nil }
        let left = most - min(max(0, used), most)
        guard used > 0, left > 0, left <= max(1, Int64((Double(most) * (1 - share)).rounded())) else { return nil }
        let key: TextKey =
            switch period(of: feature, in: tier) {
            case .day: .gateLeftDay
            case .month: .gateLeftMonth
            case .total: .gateLeftTotal
            }
        return texts(
            key, count: left,
            ["feature": name(ofFeature: feature), "amount": texts.amount(left, unit: self.feature(feature)?.unit)])
    }

    /// What customers call a feature: its id where the catalog does not have it.
    func name(ofFeature id: String) -> String { feature(id)?.name ?? id }

    private func period(of feature: String, in tier: String?) -> FeatureLimit.Period {
        if case .count(_, let period) = limit(of: feature, in: tier) { period } else { .total }
    }
}
