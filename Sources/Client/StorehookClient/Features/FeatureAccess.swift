/// Whether a feature may be used now.
public enum FeatureAccess: Sendable, Hashable {
    /// It may.
    case allowed
    /// It may not: the app shows an upgrade prompt.
    case restricted(FeatureRestriction)

    /// Whether it may be used now.
    public var isAllowed: Bool { self == .allowed }

    /// Why not; nil where it may be used.
    public var restriction: FeatureRestriction? {
        if case .restricted(let restriction) = self { restriction } else { nil }
    }
}
