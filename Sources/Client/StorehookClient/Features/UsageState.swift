/// What a tracker knows at one moment.
public struct UsageState: Sendable, Hashable {
    /// Whose it is; nil while no account is signed in.
    public var accountID: String?
    /// What tiers give, as last read; nil before that.
    public var rules: FeatureRules?
    /// How much was used of what is counted, by the catalog's ids.
    public var usage: [String: UsageLine] = [:]
    /// How many reports wait to be sent.
    public var waiting = 0
}
