public import Foundation

/// How much of a feature was used in a period, as this device knows it.
public struct UsageLine: Sendable, Hashable {
    /// The catalog's id of the feature.
    public let feature: String
    /// What is counted over.
    public let period: FeatureLimit.Period
    /// How much was used: what the server has counted, and what waits here to be reported.
    public let used: Int64
    /// When counting begins anew; nil where it never does.
    public let resetsAt: Date?
}
