public import Foundation

/// A product as the store sells it on this device.
public struct StoreProduct: Sendable, Equatable, Identifiable {
    /// The product's id at the store.
    public var id: String
    /// What the store calls it, in the device's language.
    public var displayName: String
    /// Its price in the currency of the customer's storefront.
    public var price: Decimal
    /// The price as it is shown there.
    public var displayPrice: String
    /// The currency of that storefront, ISO 4217; nil where the store does not say.
    public var currency: String?

    /// A product.
    public init(id: String, displayName: String, price: Decimal, displayPrice: String, currency: String? = nil) {
        self.id = id
        self.displayName = displayName
        self.price = price
        self.displayPrice = displayPrice
        self.currency = currency
    }
}
