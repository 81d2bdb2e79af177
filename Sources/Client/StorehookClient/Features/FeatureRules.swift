public import Foundation

/// What each tier gives of each feature, as the catalog was last read.
public struct FeatureRules: Sendable, Hashable, Codable {
    /// A tier.
    public struct Tier: Sendable, Hashable, Codable {
        /// The catalog's id.
        public var id: String
        /// What customers call it.
        public var name: String
        /// How much it gives, by the features' ids.
        public var limits: [String: FeatureLimit]

        /// A tier.
        public init(id: String, name: String, limits: [String: FeatureLimit]) {
            self.id = id
            self.name = name
            self.limits = limits
        }
    }

    /// A feature.
    public struct Feature: Sendable, Hashable, Codable {
        /// The catalog's id.
        public var id: String
        /// What customers call it.
        public var name: String
        /// What is counted; nil where the catalog does not say.
        public var unit: String?

        /// A feature.
        public init(id: String, name: String, unit: String? = nil) {
            self.id = id
            self.name = name
            self.unit = unit
        }
    }

    /// All tiers in rising order; the first is what everybody has.
    public var tiers: [Tier]
    /// All features in the catalog's order.
    public var features: [Feature]

    /// Rules.
    public init(tiers: [Tier], features: [Feature]) {
        self.tiers = tiers
        self.features = features
    }

    /// The tier of an id; nil where the catalog does not have it.
    public func tier(_ id: String) -> Tier? { tiers.first { $0.id == id } }

    /// The feature of an id; nil where the catalog does not have it.
    public func feature(_ id: String) -> Feature? { features.first { $0.id == id } }

    /// What customers call a tier: its id where it has no name.
    public func name(ofTier id: String) -> String { tier(id)?.name ?? id }

    /// What a tier gives of a feature; nil where the catalog does not have the feature.
    ///
    /// - Parameter tier: nil is the first tier, that of an account without access. A tier that the catalog got after it was read here
    ///   counts as the highest until it is read again: a customer who has paid is not locked out, and the server counts anyway.
    public func limit(of feature: String, in tier: String?) -> FeatureLimit? {
        guard let last = tiers.last, self.feature(feature) != nil else { return nil }
        let own = tier.map { self.tier($0) ?? last } ?? tiers.first
        return own?.limits[feature] ?? .closed
    }

    /// The lowest tier above another that gives more of a feature; nil where none does.
    /// - Parameter tier: nil is the first tier.
    public func tier(givingMoreOf feature: String, than tier: String?) -> Tier? {
        let rank = tier.map { id in tiers.firstIndex { $0.id == id } ?? tiers.count } ?? 0
        let own = limit(of: feature, in: tier) ?? .closed
        return tiers.dropFirst(rank + 1).first { ($0.limits[feature] ?? .closed).isMore(than: own) }
    }

    /// Whether a feature may be used.
    /// - Parameters:
    ///   - feature: the catalog's id.
    ///   - tier: the account's; nil is the first tier.
    ///   - used: how much was used in the period.
    ///   - amount: how much is to be used; at least 1.
    ///   - resetsAt: when counting begins anew.
    public func access(
        to feature: String, in tier: String?, used: Int64, amount: Int64 = 1, resetsAt: @autoclosure () -> Date?
    ) -> FeatureAccess {
        guard let limit = limit(of: feature, in: tier) else { return .restricted(.notKnown) }
        let higher = self.tier(givingMoreOf: feature, than: tier)?.id
        guard limit.isOpen else { return .restricted(.tierRequired(tier: higher)) }
        guard let most = limit.most else { return .allowed }
        // What a higher tier has used may be more than a lower one gives.
        guard max(1, amount) <= most - min(max(0, used), most) else {
            return .restricted(.limitReached(limit: most, resetsAt: resetsAt(), tier: higher))
        }
        return .allowed
    }
}
