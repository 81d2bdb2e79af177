/// How much of a limited feature was used, as a bar.
public struct UsageBar: Sendable, Hashable, Identifiable {
    /// The catalog's id of the feature.
    public let id: String
    /// What customers call it.
    public let name: String
    /// How much of it was used.
    public let used: Int64
    /// How much the tier gives in a period.
    public let limit: Int64
    /// How full the bar is: 0 to 1.
    public let share: Double
    /// `3 of 5 times`.
    public let text: String
    /// When counting begins anew, for people; nil where it never does.
    public let resetsAt: String?

    /// The bars of what the account's tier limits, in the catalog's order.
    static func all(
        _ rules: FeatureRules, tier: String?, use: (String) -> UsageLine?, _ texts: ClientTexts
    ) -> [UsageBar] {
        rules.features.compactMap { feature in
            guard let limit = rules.limit(of: feature.id, in: tier)?.most, limit > 0 else { return nil }
            let line = use(feature.id)
            let used = line?.used ?? 0
            return UsageBar(
                id: feature.id, name: feature.name, used: used, limit: limit,
                share: min(1, Double(used) / Double(limit)),
                text: texts(
                    .usageOfLimit, ["used": texts.number(used), "limit": texts.amount(limit, unit: feature.unit)]),
                resetsAt: line?.resetsAt.map { texts(.usageResetsOn, ["date": texts.dateAndTime($0)]) })
        }
    }
}
