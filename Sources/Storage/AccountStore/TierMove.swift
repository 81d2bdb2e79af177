/// A change of accounts' tier by another catalog.
package struct TierMove: Sendable, Hashable, Comparable {
    /// The environment.
    package var environment: String
    /// The tier before; nil where there was no catalog.
    package var before: String?
    /// The tier after.
    package var after: String

    /// Memberwise.
    package init(environment: String, before: String?, after: String) {
        self.environment = environment
        self.before = before
        self.after = after
    }

    /// By their names.
    package static func < (a: Self, b: Self) -> Bool {
        (a.environment, a.before ?? "", a.after) < (b.environment, b.before ?? "", b.after)
    }
}
