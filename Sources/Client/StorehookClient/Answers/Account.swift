public import Foundation

/// Which account the token is of, and what it has: the answer of `GET /v1/account`.
public struct Account: Sendable, Hashable, Decodable {
    /// To be handed to StoreKit with each purchase, so that Apple signs whose it is.
    public var appAccountToken: UUID
    /// The status for people, in the language asked for.
    public var displayStatus: String
    /// The environment in question.
    public var environment: Environment
    /// When all access ends, or ended; nil where it never does.
    public var expiresAt: Date?
    /// Whether it has more than the first tier.
    public var hasAccess: Bool
    /// What the app calls the account.
    public var id: String
    /// Up to when this answer holds all that Apple has posted in its environment, by Apple's own history, but for dead letters; nil
    /// without proof. What Apple signed later may be missing.
    public var provenUntil: Date?
    /// What gives the account its tier.
    public var source: AccountSource
    /// The status.
    public var status: AccountStatus
    /// What the account has, by the catalog.
    public var tier: String
    /// What customers call the tier.
    public var tierName: String
    /// Grows with each change of the account.
    public var version: Int64

    private enum CodingKeys: String, CodingKey {
        case appAccountToken
        case displayStatus
        case environment
        case expiresAt
        case hasAccess
        case id
        case provenUntil
        case source
        case status
        case tier
        case tierName
        case version
    }
}

extension Account {
    /// Reads an answer. What is missing is nil, empty or none, but for `appAccountToken`, `hasAccess`, `id`, `status`, `tier`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        appAccountToken = try members.decode(UUID.self, forKey: .appAccountToken)
        displayStatus = try members.value(.displayStatus)
        environment = try members.value(.environment)
        expiresAt = try members.decodeIfPresent(Date.self, forKey: .expiresAt)
        hasAccess = try members.decode(Bool.self, forKey: .hasAccess)
        id = try members.decode(String.self, forKey: .id)
        provenUntil = try members.decodeIfPresent(Date.self, forKey: .provenUntil)
        source = try members.value(.source)
        status = try members.decode(AccountStatus.self, forKey: .status)
        tier = try members.decode(String.self, forKey: .tier)
        tierName = try members.value(.tierName)
        version = try members.value(.version)
    }
}
