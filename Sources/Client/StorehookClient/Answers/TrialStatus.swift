public import Foundation

/// How the account's trial stands.
public struct TrialStatus: Sendable, Hashable, Decodable {
    /// When a purchase took its place.
    public var convertedAt: Date?
    /// Each day that has begun counted; 0 when it is over.
    public var daysLeft: Int64?
    /// Whether it is the trial that gives access now.
    public var isActive: Bool
    /// Whether the account has ever started it.
    public var started: Bool
    /// Of the account.
    public var status: AccountStatus
    /// The tier.
    public var tier: String?
    /// When the trial ends.
    public var trialEndsAt: Date?
    /// When the trial began.
    public var trialStartedAt: Date?

    private enum CodingKeys: String, CodingKey {
        case convertedAt
        case daysLeft
        case isActive
        case started
        case status
        case tier
        case trialEndsAt
        case trialStartedAt
    }
}

extension TrialStatus {
    /// Reads an answer. What is missing is nil, empty or none, but for `status`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        convertedAt = try members.decodeIfPresent(Date.self, forKey: .convertedAt)
        daysLeft = try members.decodeIfPresent(Int64.self, forKey: .daysLeft)
        isActive = try members.value(.isActive)
        started = try members.value(.started)
        status = try members.decode(AccountStatus.self, forKey: .status)
        tier = try members.decodeIfPresent(String.self, forKey: .tier)
        trialEndsAt = try members.decodeIfPresent(Date.self, forKey: .trialEndsAt)
        trialStartedAt = try members.decodeIfPresent(Date.self, forKey: .trialStartedAt)
    }
}
