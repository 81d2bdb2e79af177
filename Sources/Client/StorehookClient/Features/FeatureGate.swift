/// Whether the account may use a feature now: by its tier, and by what it has used.
///
/// It answers at once, offline too, by what was last known, and it is asked at each use. The server has the last word: it refuses what is
/// reported beyond a limit.
@MainActor
public final class FeatureGate {
    private let tracker: UsageTracker
    private let texts: ClientTexts
    private let warningShare: Double

    /// A gate.
    /// - Parameters:
    ///   - tracker: what the account has used. The gate goes by its account's tier.
    ///   - texts: what it says.
    ///   - warningShare: from which share of a limit on ``warning(_:currentCount:)`` warns: 0 to 1.
    public init(tracker: UsageTracker, texts: ClientTexts = ClientTexts(), warningShare: Double = 0.9) {
        self.tracker = tracker
        self.texts = texts
        self.warningShare = warningShare
    }

    /// Whether a feature may be used now.
    /// - Parameters:
    ///   - feature: the catalog's id.
    ///   - amount: how much is to be used; at least 1.
    public func checkAccess(feature: String, amount: Int64 = 1) -> FeatureAccess {
        access(feature, used: nil, amount: amount)
    }

    /// Whether the account's tier has a feature, however much of it was used: for a button, or a screen of its own.
    public func isOpen(_ feature: String) -> Bool {
        tracker.rules?.limit(of: feature, in: tracker.currentTier)?.isOpen ?? false
    }

    /// What to show where a feature may not be used now: an upgrade prompt. Nil where it may be used.
    /// - Parameter currentCount: how many there are, where the app counts them itself, as of what it stores; nil goes by the tracker.
    public func check(_ feature: String, currentCount: Int64? = nil) -> String? {
        guard let restriction = access(feature, used: currentCount, amount: 1).restriction else { return nil }
        return prompt(restriction, of: feature)
    }

    /// What to show while little is left of a feature, and where nothing is left. Nil while more is, and where nothing limits it.
    /// - Parameter currentCount: how many there are, where the app counts them itself; nil goes by the tracker.
    public func warning(_ feature: String, currentCount: Int64? = nil) -> String? {
        guard let rules = tracker.rules else { return nil }
        let tier = tracker.currentTier
        let used = currentCount ?? tracker.use(of: feature)?.used ?? 0
        if case .restricted(.limitReached) = access(feature, used: used, amount: 1) {
            return check(feature, currentCount: currentCount)
        }
        return rules.warning(of: feature, in: tier, used: used, from: warningShare, texts)
    }

    /// What to show for a restriction, such as one that ``UsageTracker/count(_:amount:)`` has answered.
    public func prompt(_ restriction: FeatureRestriction, of feature: String) -> String {
        let rules = tracker.rules ?? FeatureRules(tiers: [], features: [])
        return rules.prompt(restriction, of: feature, in: tracker.currentTier, texts)
    }

    private func access(_ feature: String, used: Int64?, amount: Int64) -> FeatureAccess {
        guard let rules = tracker.rules else { return .restricted(.notKnown) }
        let line = tracker.use(of: feature)
        return rules.access(
            to: feature, in: tracker.currentTier, used: used ?? line?.used ?? 0, amount: amount,
            resetsAt: line?.resetsAt)
    }
}
