public import Foundation

/// A transaction as the store hands it to the app.
public struct StoreTransaction: Sendable, Equatable {
    /// The transaction's id.
    public var id: String
    /// The id of the first transaction of the same purchase.
    public var originalID: String
    /// The product's id at the store.
    public var productID: String
    /// When it was bought, or its period began.
    public var purchasedAt: Date
    /// When its period ends; nil of what is no subscription.
    public var expiresAt: Date?
    /// When the store took it back; nil where it did not.
    public var revokedAt: Date?
    /// Whether a dearer plan has replaced it.
    public var isUpgraded: Bool
    /// The token that the app gave for the account; nil where it gave none.
    public var appAccountToken: UUID?
    /// The transaction as the store signed it (compact JWS), for the server alone: it is kept nowhere.
    public var signedTransactionInfo: String
    /// The renewal info of its subscription, likewise; nil of what is no subscription.
    public var signedRenewalInfo: String?

    /// A transaction.
    public init(
        id: String, originalID: String, productID: String, purchasedAt: Date, expiresAt: Date? = nil,
        revokedAt: Date? = nil, isUpgraded: Bool = false, appAccountToken: UUID? = nil, signedTransactionInfo: String,
        signedRenewalInfo: String? = nil
    ) {
        self.id = id
        self.originalID = originalID
        self.productID = productID
        self.purchasedAt = purchasedAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.isUpgraded = isUpgraded
        self.appAccountToken = appAccountToken
        self.signedTransactionInfo = signedTransactionInfo
        self.signedRenewalInfo = signedRenewalInfo
    }
}

extension StoreTransaction {
    /// A transaction as it was sold, or as it was taken back: the store hands over both under one id.
    struct Version: Sendable, Hashable {
        var id: String
        var isRevoked: Bool
    }

    /// Which of the two it is.
    var version: Version { Version(id: id, isRevoked: revokedAt != nil) }
}
