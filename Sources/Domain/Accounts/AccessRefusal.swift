/// Why an account may not pass; the raw values are the reasons of the guard.
public enum AccessRefusal: String, Error, Sendable, CaseIterable {
    /// Nothing gives access.
    case noAccess = "no_access"
    /// A higher tier is needed.
    case tierRequired = "tier_required"
    /// The tier does not open the feature.
    case featureNotIncluded = "feature_not_included"
    /// The catalog has no such tier.
    case unknownTier = "unknown_tier"
    /// The catalog has no such feature.
    case unknownFeature = "unknown_feature"
}

extension Catalog {
    /// Decides whether an account may pass: nil if it may. The use of what is counted is not asked here.
    /// - Parameters:
    ///   - tier: the tier that the account has.
    ///   - access: whether anything gives it access; see ``AccountStatus/access``.
    ///   - least: the tier that it needs at least; with neither this nor a feature, any access will do.
    ///   - feature: the feature that its tier has to open.
    public func refusal(
        ofTier tier: String, access: Bool, needing least: String? = nil, feature: String? = nil
    ) -> AccessRefusal? {
        if least == nil, feature == nil { return access ? nil : .noAccess }
        if let least {
            guard let wanted = rank(of: least) else { return .unknownTier }
            guard let has = rank(of: tier), has >= wanted else { return .tierRequired }
        }
        if let feature {
            guard let known = self.feature(feature) else { return .unknownFeature }
            guard known.limit(in: tier).isOpen else { return .featureNotIncluded }
        }
        return nil
    }
}
