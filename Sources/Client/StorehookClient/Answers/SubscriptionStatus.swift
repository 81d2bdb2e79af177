public import Foundation

/// What an account has: the answer of `GET /v1/subscriptions/status`.
public struct SubscriptionStatus: Sendable, Hashable, Decodable {
    /// With access: when all of it ends; nil where it never does.
    public var accessUntil: Date?
    /// Of the subscription; it stays when that has ended.
    public var cancelledAt: Date?
    /// Of the subscription, else when the app's own trial began.
    public var createdAt: Date?
    /// Until all access ends, each day that has begun counted.
    public var daysLeft: Int64?
    /// The status for people, in the language asked for.
    public var displayStatus: String
    /// Apple's environment.
    public var environment: Environment
    /// When all access ends without a gap, or ended; nil where it never does.
    public var expiresAt: Date?
    /// Whether all access ends soon, by the catalog, and does not go on by itself.
    public var expiringSoon: Bool
    /// Whether the account has access, whatever gives it.
    public var hasActiveSubscription: Bool
    /// Whether it runs.
    public var isActive: Bool
    /// How long the subscription lasts each time; none where there is none.
    public var period: SubscriptionPeriod
    /// When the running period of what gives the tier ends.
    public var periodEndsAt: Date?
    /// Up to when this answer holds all that Apple has posted in its environment, by Apple's own history, but for dead letters; nil
    /// without proof. What Apple signed later may be missing.
    public var provenUntil: Date?
    /// When it was bought first.
    public var purchaseDate: Date?
    /// What kind of purchase it is.
    public var purchaseType: PurchaseType
    /// What gives it.
    public var source: AccountSource
    /// The status.
    public var status: AccountStatus
    /// The purchase that gives the status, else one with access, else the latest.
    public var subscription: AccountSubscription?
    /// All purchases of the account.
    public var subscriptions: [AccountSubscription]
    /// The tier.
    public var tier: String
    /// What customers call the tier.
    public var tierName: String
    /// Until when the tier is this one; nil without access, and where it stays.
    public var tierUntil: Date?
    /// Of the subscription.
    public var transactionID: String?
    /// When the trial ends.
    public var trialEndsAt: Date?
    /// The app's own trial, else Apple's.
    public var trialStartedAt: Date?
    /// When anything of the account changed last, by evidence or by time.
    public var updatedAt: Date?
    /// Grows with each change.
    public var version: Int64
    /// Whether anything that gives access renews itself.
    public var willRenew: Bool

    private enum CodingKeys: String, CodingKey {
        case accessUntil
        case cancelledAt
        case createdAt
        case daysLeft
        case displayStatus
        case environment
        case expiresAt
        case expiringSoon
        case hasActiveSubscription
        case isActive
        case period
        case periodEndsAt
        case provenUntil
        case purchaseDate
        case purchaseType
        case source
        case status
        case subscription
        case subscriptions
        case tier
        case tierName
        case tierUntil
        case transactionID = "transactionId"
        case trialEndsAt
        case trialStartedAt
        case updatedAt
        case version
        case willRenew
    }
}

extension SubscriptionStatus {
    /// Reads an answer. What is missing is nil, empty or none, but for `hasActiveSubscription`, `status`, `tier`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        accessUntil = try members.decodeIfPresent(Date.self, forKey: .accessUntil)
        cancelledAt = try members.decodeIfPresent(Date.self, forKey: .cancelledAt)
        createdAt = try members.decodeIfPresent(Date.self, forKey: .createdAt)
        daysLeft = try members.decodeIfPresent(Int64.self, forKey: .daysLeft)
        displayStatus = try members.value(.displayStatus)
        environment = try members.value(.environment)
        expiresAt = try members.decodeIfPresent(Date.self, forKey: .expiresAt)
        expiringSoon = try members.value(.expiringSoon)
        hasActiveSubscription = try members.decode(Bool.self, forKey: .hasActiveSubscription)
        isActive = try members.value(.isActive)
        period = try members.value(.period)
        periodEndsAt = try members.decodeIfPresent(Date.self, forKey: .periodEndsAt)
        provenUntil = try members.decodeIfPresent(Date.self, forKey: .provenUntil)
        purchaseDate = try members.decodeIfPresent(Date.self, forKey: .purchaseDate)
        purchaseType = try members.value(.purchaseType)
        source = try members.value(.source)
        status = try members.decode(AccountStatus.self, forKey: .status)
        subscription = try members.decodeIfPresent(AccountSubscription.self, forKey: .subscription)
        subscriptions = try members.value(.subscriptions)
        tier = try members.decode(String.self, forKey: .tier)
        tierName = try members.value(.tierName)
        tierUntil = try members.decodeIfPresent(Date.self, forKey: .tierUntil)
        transactionID = try members.decodeIfPresent(String.self, forKey: .transactionID)
        trialEndsAt = try members.decodeIfPresent(Date.self, forKey: .trialEndsAt)
        trialStartedAt = try members.decodeIfPresent(Date.self, forKey: .trialStartedAt)
        updatedAt = try members.decodeIfPresent(Date.self, forKey: .updatedAt)
        version = try members.value(.version)
        willRenew = try members.value(.willRenew)
    }
}
