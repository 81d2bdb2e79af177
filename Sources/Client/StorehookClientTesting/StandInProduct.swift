import Foundation
import StorehookClient

/// A product as `GET /stand-in/products` lists it.
struct StandInProduct: Decodable {
    /// Its id at Apple.
    var productId: String
    /// Its price in thousandths of a dollar.
    var price: Int

    /// The product as a device would show it. The stand-in has no names: the product goes by the last words of its id.
    var product: StoreProduct {
        let amount = Decimal(price) / 1000
        let words = productId.split(separator: ".").suffix(2).joined(separator: " ")
        return StoreProduct(
            id: productId, displayName: words, price: amount, displayPrice: "$" + Self.cents(price / 10))
    }

    private static func cents(_ cents: Int) -> String { "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)" }
}
