/// A feature that the account's tier does not give.
public struct LockedFeature: Sendable, Hashable, Identifiable {
    /// The catalog's id of the feature.
    public let id: String
    /// What customers call it.
    public let name: String
    /// The catalog's id of the lowest tier that gives it.
    public let tier: String
    /// Which tier gives it, for people.
    public let text: String

    /// All that a higher tier gives and the account's does not, in the catalog's order.
    static func all(_ rules: FeatureRules, tier: String?, _ texts: ClientTexts) -> [LockedFeature] {
        rules.features.compactMap { feature in
            guard rules.limit(of: feature.id, in: tier)?.isOpen == false,
                let higher = rules.tier(givingMoreOf: feature.id, than: tier)
            else { return nil }
            return LockedFeature(
                id: feature.id, name: feature.name, tier: higher.id, text: texts(.lockedByTier, ["tier": higher.name]))
        }
    }
}
