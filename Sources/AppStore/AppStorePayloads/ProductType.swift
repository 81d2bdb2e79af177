public import Base

/// The kind of product (`type` of a transaction).
public struct ProductType: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String

    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Renews until cancelled.
    public static let autoRenewableSubscription = ProductType(rawValue: "Auto-Renewable Subscription")
    /// Bought once, owned for good.
    public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
    /// Used up.
    public static let consumable = ProductType(rawValue: "Consumable")
    /// A term that the app keeps.
    public static let nonRenewingSubscription = ProductType(rawValue: "Non-Renewing Subscription")

    /// The values this release knows.
    public static let known: Set<ProductType> = [
        .autoRenewableSubscription, .nonConsumable, .consumable, .nonRenewingSubscription,
    ]
}
