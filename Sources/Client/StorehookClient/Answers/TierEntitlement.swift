public import Foundation

/// A tier that the account has.
public struct TierEntitlement: Sendable, Hashable, Decodable {
    /// When it ends by what is known.
    public var expiresAt: Date?
    /// What customers call it.
    public var name: String
    /// What gives it.
    public var source: AccountSource
    /// The tier.
    public var tier: String

    private enum CodingKeys: String, CodingKey {
        case expiresAt
        case name
        case source
        case tier
    }
}

extension TierEntitlement {
    /// Reads an answer. What is missing is nil, empty or none, but for `tier`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        expiresAt = try members.decodeIfPresent(Date.self, forKey: .expiresAt)
        name = try members.value(.name)
        source = try members.value(.source)
        tier = try members.decode(String.self, forKey: .tier)
    }
}
