/// What became of a use.
public enum UsageOutcome: Sendable, Hashable {
    /// It was counted, and will be reported.
    /// - Parameter remaining: how much is left; nil where nothing limits it.
    case counted(remaining: Int64?)
    /// The feature is not counted: the tier gives all of it, or the catalog names no limit.
    case notCounted
    /// Nothing was counted.
    case refused(FeatureRestriction)
    /// Nothing was counted, because the amount is none that can be: 1 to 1,000,000, and of a stock that is set 0 to 1,000,000,000.
    case outOfBounds

    /// Whether the app may go on.
    public var isAllowed: Bool {
        switch self {
        case .counted, .notCounted: true
        case .refused, .outOfBounds: false
        }
    }
}
