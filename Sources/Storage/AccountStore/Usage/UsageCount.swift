package import Accounts

/// How much of a feature is used in a window, and how much there is.
package struct UsageCount: Sendable, Hashable {
    /// The feature's id.
    package var feature: String
    /// The day, month or all time that is counted.
    package var window: UsageWindow
    /// How much is used.
    package var used: Int64
    /// How much there is; nil where there is no limit.
    package var limit: Int64?

    /// How much is left; nil where there is no limit. Also 0 where more is used than a lower tier allows.
    package var remaining: Int64? { limit.map { max(0, $0 - used) } }
}
