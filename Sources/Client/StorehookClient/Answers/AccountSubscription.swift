public import Foundation

/// A purchase of an account, as the server shows it.
public struct AccountSubscription: Sendable, Hashable, Decodable {
    /// Whether it renews itself then, as far as is known.
    public var autoRenewStatus: Bool
    /// The app.
    public var bundleID: String
    /// Since when it does not renew itself, or was taken back; nil while it renews. It stays when a cancelled one has ended.
    public var cancelledAt: Date?
    /// When its first evidence was stored; nil of what an earlier release stored, until a rebuild or its next evidence.
    public var createdAt: Date?
    /// The status for people, in the language asked for.
    public var displayStatus: String
    /// Apple's environment.
    public var environment: Environment
    /// When its access ends, or ended; nil where it never does.
    public var expiresAt: Date?
    /// Whether it gives access now.
    public var hasAccess: Bool
    /// The catalog's id of the product; nil of one that it does not know.
    public var id: String?
    /// Whether it is shared by a family member who bought it.
    public var isFamilyShared: Bool
    /// Whether this period is one of Apple's free trials.
    public var isTrialPeriod: Bool
    /// What customers call the product.
    public var name: String?
    /// Apple's number of the purchase.
    public var originalTransactionID: String
    /// How long it lasts each time, by the catalog; none of a subscription that the catalog does not know.
    public var period: SubscriptionPeriod
    /// Apple's id of the product.
    public var productID: String
    /// When it was bought first.
    public var purchaseDate: Date?
    /// What kind of purchase it is.
    public var purchaseType: PurchaseType
    /// What it would renew as.
    public var renewalProductID: String?
    /// The status.
    public var status: PurchaseStatus
    /// What it gives, by the catalog.
    public var tier: String?
    /// Apple's number of the period's transaction; nil where that was never heard of.
    public var transactionID: String?
    /// When the trial ends.
    public var trialEndsAt: Date?
    /// When Apple's free trial began.
    public var trialStartedAt: Date?
    /// When it changed last: when its latest evidence was stored, or when its status began.
    public var updatedAt: Date?

    private enum CodingKeys: String, CodingKey {
        case autoRenewStatus
        case bundleID = "bundleId"
        case cancelledAt
        case createdAt
        case displayStatus
        case environment
        case expiresAt
        case hasAccess
        case id
        case isFamilyShared
        case isTrialPeriod
        case name
        case originalTransactionID = "originalTransactionId"
        case period
        case productID = "productId"
        case purchaseDate
        case purchaseType
        case renewalProductID = "renewalProductId"
        case status
        case tier
        case transactionID = "transactionId"
        case trialEndsAt
        case trialStartedAt
        case updatedAt
    }
}

extension AccountSubscription {
    /// Reads an answer. What is missing is nil, empty or none, but for `hasAccess`, `originalTransactionID`, `productID`, `status`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        autoRenewStatus = try members.value(.autoRenewStatus)
        bundleID = try members.value(.bundleID)
        cancelledAt = try members.decodeIfPresent(Date.self, forKey: .cancelledAt)
        createdAt = try members.decodeIfPresent(Date.self, forKey: .createdAt)
        displayStatus = try members.value(.displayStatus)
        environment = try members.value(.environment)
        expiresAt = try members.decodeIfPresent(Date.self, forKey: .expiresAt)
        hasAccess = try members.decode(Bool.self, forKey: .hasAccess)
        id = try members.decodeIfPresent(String.self, forKey: .id)
        isFamilyShared = try members.value(.isFamilyShared)
        isTrialPeriod = try members.value(.isTrialPeriod)
        name = try members.decodeIfPresent(String.self, forKey: .name)
        originalTransactionID = try members.decode(String.self, forKey: .originalTransactionID)
        period = try members.value(.period)
        productID = try members.decode(String.self, forKey: .productID)
        purchaseDate = try members.decodeIfPresent(Date.self, forKey: .purchaseDate)
        purchaseType = try members.value(.purchaseType)
        renewalProductID = try members.decodeIfPresent(String.self, forKey: .renewalProductID)
        status = try members.decode(PurchaseStatus.self, forKey: .status)
        tier = try members.decodeIfPresent(String.self, forKey: .tier)
        transactionID = try members.decodeIfPresent(String.self, forKey: .transactionID)
        trialEndsAt = try members.decodeIfPresent(Date.self, forKey: .trialEndsAt)
        trialStartedAt = try members.decodeIfPresent(Date.self, forKey: .trialStartedAt)
        updatedAt = try members.decodeIfPresent(Date.self, forKey: .updatedAt)
    }
}
