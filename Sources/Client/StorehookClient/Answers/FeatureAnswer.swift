public import Foundation

/// What the account may use of a feature, and what it has used.
public struct FeatureAnswer: Sendable, Hashable, Decodable {
    /// Whether it may be used.
    public var allowed: Bool
    /// The feature's id.
    public var feature: String
    /// Whether there is no limit.
    public var isUnlimited: Bool
    /// How much in a period; nil where there is no limit.
    public var limit: Int64?
    /// What customers call it.
    public var name: String?
    /// What is counted over.
    public var period: UsagePeriod?
    /// Why not.
    public var reason: RestrictionReason?
    /// How much may still be used in this period; nil where there is no limit.
    public var remaining: Int64?
    /// The lowest tier that gives more, where it is not allowed.
    public var requiredTier: String?
    /// When counting begins anew; nil where it never does.
    public var resetsAt: Date?
    /// The account's.
    public var tier: String
    /// What is counted.
    public var unit: String?
    /// What to show where it is not allowed and a higher tier gives more, in the language asked for: English, zh-Hans or zh-Hant.
    public var upgradePrompt: String?
    /// How much was used in this period; nil where it is not counted.
    public var used: Int64?

    private enum CodingKeys: String, CodingKey {
        case allowed
        case feature
        case isUnlimited
        case limit
        case name
        case period
        case reason
        case remaining
        case requiredTier
        case resetsAt
        case tier
        case unit
        case upgradePrompt
        case used
    }
}

extension FeatureAnswer {
    /// Reads an answer. What is missing is nil, empty or none, but for `allowed`, `feature`, `tier`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        allowed = try members.decode(Bool.self, forKey: .allowed)
        feature = try members.decode(String.self, forKey: .feature)
        isUnlimited = try members.value(.isUnlimited)
        limit = try members.decodeIfPresent(Int64.self, forKey: .limit)
        name = try members.decodeIfPresent(String.self, forKey: .name)
        period = try members.decodeIfPresent(UsagePeriod.self, forKey: .period)
        reason = try members.decodeIfPresent(RestrictionReason.self, forKey: .reason)
        remaining = try members.decodeIfPresent(Int64.self, forKey: .remaining)
        requiredTier = try members.decodeIfPresent(String.self, forKey: .requiredTier)
        resetsAt = try members.decodeIfPresent(Date.self, forKey: .resetsAt)
        tier = try members.decode(String.self, forKey: .tier)
        unit = try members.decodeIfPresent(String.self, forKey: .unit)
        upgradePrompt = try members.decodeIfPresent(String.self, forKey: .upgradePrompt)
        used = try members.decodeIfPresent(Int64.self, forKey: .used)
    }
}
