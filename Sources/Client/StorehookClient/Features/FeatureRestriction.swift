public import Foundation

/// Why a feature may not be used now.
public enum FeatureRestriction: Sendable, Hashable {
    /// The account's tier does not give it.
    /// - Parameter tier: the lowest tier that does; nil where none does.
    case tierRequired(tier: String?)
    /// All that the tier gives was used.
    /// - Parameters:
    ///   - limit: how much the tier gives in a period.
    ///   - resetsAt: when counting begins anew; nil where it never does.
    ///   - tier: the lowest tier that gives more; nil where none does.
    case limitReached(limit: Int64, resetsAt: Date?, tier: String?)
    /// The catalog was never read on this device, or does not have the feature.
    case notKnown
}
