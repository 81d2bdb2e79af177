public import Foundation

/// A product that the account may use.
public struct ProductEntitlement: Sendable, Hashable, Decodable {
    /// The app.
    public var bundleID: String
    /// When it ends; nil where it never does.
    public var expiresAt: Date?
    /// The catalog's id.
    public var id: String?
    /// Whether it is shared by a family member who bought it.
    public var isFamilyShared: Bool
    /// Apple's id of the purchase.
    public var originalTransactionID: String
    /// Apple's id of the product.
    public var productID: String
    /// What kind of purchase it is.
    public var purchaseType: PurchaseType
    /// What gives it.
    public var source: AccountSource
    /// The tier.
    public var tier: String?

    private enum CodingKeys: String, CodingKey {
        case bundleID = "bundleId"
        case expiresAt
        case id
        case isFamilyShared
        case originalTransactionID = "originalTransactionId"
        case productID = "productId"
        case purchaseType
        case source
        case tier
    }
}

extension ProductEntitlement {
    /// Reads an answer. What is missing is nil, empty or none, but for `productID`.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        bundleID = try members.value(.bundleID)
        expiresAt = try members.decodeIfPresent(Date.self, forKey: .expiresAt)
        id = try members.decodeIfPresent(String.self, forKey: .id)
        isFamilyShared = try members.value(.isFamilyShared)
        originalTransactionID = try members.value(.originalTransactionID)
        productID = try members.decode(String.self, forKey: .productID)
        purchaseType = try members.value(.purchaseType)
        source = try members.value(.source)
        tier = try members.decodeIfPresent(String.self, forKey: .tier)
    }
}
