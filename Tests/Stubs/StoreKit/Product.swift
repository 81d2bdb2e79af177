public import Foundation

/// What StoreKit declares of a product.
public struct Product: Identifiable, Hashable, Sendable {
    /// Its identifier.
    public let id: String
    /// Its name.
    public let displayName: String
    /// Its price, in the currency of the storefront.
    public let price: Decimal
    /// The same, as it is shown.
    public let displayPrice: String
    /// How the price is written, and in which currency.
    public var priceFormatStyle: Decimal.FormatStyle.Currency { .currency(code: "USD") }

    /// What goes with a purchase.
    public struct PurchaseOption: Hashable, Sendable {
        /// Whose purchase it is.
        public static func appAccountToken(_ token: UUID) -> Product.PurchaseOption { PurchaseOption() }
    }

    /// How a purchase ended.
    public enum PurchaseResult: Sendable {
        /// It was made.
        case success(VerificationResult<Transaction>)
        /// The customer thought better of it.
        case userCancelled
        /// A parent (Ask to Buy) or the bank has to approve it first.
        case pending
    }

    /// The products of these identifiers.
    public static func products<Identifiers>(for identifiers: Identifiers) async throws -> [Product]
    where Identifiers: Collection, Identifiers.Element == String { [] }

    /// Buys.
    @MainActor public func purchase(options: Set<Product.PurchaseOption> = []) async throws -> Product.PurchaseResult {
        .pending
    }
}
