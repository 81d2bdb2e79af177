package import Accounts
import Base

/// What an account may do with a feature at one instant, and how much of it was used.
package struct FeatureView: Sendable, Hashable {
    /// Why not.
    package enum Restriction: String, Sendable, Hashable, CaseIterable, NamedWords {
        /// See `NamedWords`.
        package static let schemaName = "FeatureRestriction"

        /// The account's tier does not give it.
        case tierRequired
        /// All that the tier gives was used.
        case limitReached
    }

    /// What became of a report of use.
    package enum Report: Sendable, Hashable {
        /// It was allowed, also where it took the last that there was.
        case counted
        /// It was more than what is left, also where something is.
        case refused
    }

    /// The feature.
    package var feature: Catalog.Feature
    /// The account's tier.
    package var tier: String
    /// How much was used in the window.
    package var used: Int64
    /// What use is counted over now; nil where it is not counted.
    package var window: UsageWindow?
    /// What became of a report of use, where this answers one; nil where it answers whether there may be another.
    package var report: Report?

    /// A feature of an account.
    package init(_ feature: Catalog.Feature, in tier: String, used: Int64 = 0, window: UsageWindow? = nil) {
        self.feature = feature
        self.tier = tier
        self.used = used
        self.window = window
    }

    /// What the tier gives.
    package var limit: Catalog.Limit { feature.limit(in: tier) }

    /// How much there may be in a window; nil without a limit.
    package var most: Int64? {
        if case .count(let count, _) = limit { count } else { nil }
    }

    /// How much is left; nil without a limit. What a higher tier has used may be more than a lower one gives.
    package var remaining: Int64? { most.map { max(0, $0 - used) } }

    /// Why it may not be used; nil where it may.
    package var restriction: Restriction? {
        if report == .counted { return nil }
        guard limit.isOpen else { return .tierRequired }
        return remaining == 0 || report == .refused ? .limitReached : nil
    }

    /// The lowest tier above the account's that gives more of it; nil where none does.
    func requiredTier(in catalog: Catalog) -> String? {
        guard restriction != nil else { return nil }
        let rank = catalog.rank(of: tier) ?? 0
        return catalog.tiers.dropFirst(rank + 1).first { higher in
            switch feature.limit(in: higher.id) {
            case .no: false
            case .yes, .unlimited: true
            case .count(let count, _): count > (most ?? 0)
            }
        }?.id
    }
}
