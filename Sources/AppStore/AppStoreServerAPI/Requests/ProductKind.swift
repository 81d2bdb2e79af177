import AppStorePayloads
public import Base

/// The kinds of products, as the filter of Get Transaction History spells them.
public struct ProductKind: AppleCode {
    /// The value as Apple writes it.
    public let rawValue: String
    /// Keeps any raw value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Renews by itself.
    public static let autoRenewable = ProductKind(rawValue: "AUTO_RENEWABLE")
    /// For a term.
    public static let nonRenewable = ProductKind(rawValue: "NON_RENEWABLE")
    /// Used up.
    public static let consumable = ProductKind(rawValue: "CONSUMABLE")
    /// For good.
    public static let nonConsumable = ProductKind(rawValue: "NON_CONSUMABLE")

    /// The values this release knows.
    public static let known: Set<ProductKind> = [.autoRenewable, .nonRenewable, .consumable, .nonConsumable]
}
