/// A country's storefront with its currency.
public struct Storefront: Sendable, Hashable, Codable {
    /// Three-letter country code, ISO 3166-1 alpha-3.
    public var code: String
    /// Apple's number for the storefront.
    public var id: String
    /// ISO 4217 currency code.
    public var currency: String
    /// What a dollar's worth costs here, in thousandths of the currency, before rounding.
    var milliunitsPerDollar: Int64
    /// Prices are whole multiples of this many milliunits, plus nothing: yen have no decimals.
    var step: Int64

    /// The United States, dollars.
    public static let unitedStates = Storefront(
        code: "USA", id: "143441", currency: "USD", milliunitsPerDollar: 1000, step: 10)
    /// Germany, euros.
    public static let germany = Storefront(
        code: "DEU", id: "143443", currency: "EUR", milliunitsPerDollar: 1000, step: 10)
    /// Japan, yen: milliunits even though the currency has no decimals.
    public static let japan = Storefront(
        code: "JPN", id: "143462", currency: "JPY", milliunitsPerDollar: 150_000, step: 10_000)
    /// Türkiye, lira.
    public static let turkiye = Storefront(
        code: "TUR", id: "143480", currency: "TRY", milliunitsPerDollar: 40_000, step: 10)
    /// Australia, dollars.
    public static let australia = Storefront(
        code: "AUS", id: "143460", currency: "AUD", milliunitsPerDollar: 1500, step: 10)

    /// The storefronts that the load generator draws from.
    public static let all: [Storefront] = [.unitedStates, .germany, .japan, .turkiye, .australia]

    /// A price in milliunits of this storefront's currency for a price in thousandths of a dollar.
    func price(forDollarMilliunits price: Int64) -> Int64 {
        let exact = price * milliunitsPerDollar / 1000
        return (exact + step / 2) / step * step
    }
}
