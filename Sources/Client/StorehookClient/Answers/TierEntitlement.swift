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
