/// An amount of money as Apple writes it.
public struct Money: Sendable, Hashable {
    /// Thousandths of the currency's unit, whatever decimals the currency has: 9990 is 9.99, and 230000 is 230 yen.
    public var milliunits: Int64
    /// The currency, ISO 4217.
    public var currency: String

    /// An amount.
    public init(milliunits: Int64, currency: String) {
        self.milliunits = milliunits
        self.currency = currency
    }

    /// An amount; nil where either part is missing.
    package init?(_ milliunits: Int64?, in currency: String?) {
        guard let milliunits, let currency else { return nil }
        self.init(milliunits: milliunits, currency: currency)
    }

    /// A share of it, in thousandths of a percent, rounded down; never through floating point.
    public func share(_ thousandthsOfPercent: Int64) -> Money {
        let (product, overflow) = milliunits.multipliedReportingOverflow(by: thousandthsOfPercent)
        return overflow ? self : Money(milliunits: product / OneTimePurchase.whole, currency: currency)
    }

    /// For people, with the decimals that the currency has: `9.99 USD`, `1,230 JPY`.
    public var words: String { milliunits == 0 ? "free" : "\(amountWords) \(currency)" }

    /// The amount alone: `9.99`.
    package var amountWords: String {
        let (units, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1000)
        var text = milliunits < 0 ? "-" : ""
        let digits = Array(String(units))
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        let decimals = Self.withoutDecimals.contains(currency) ? 0 : Self.withThreeDecimals.contains(currency) ? 3 : 2
        if decimals > 0 { text += "." + String(1000 + rest).dropFirst().prefix(decimals) }
        return text
    }

    /// The currencies without decimals in ISO 4217.
    private static let withoutDecimals: Set = [
        "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF",
        "XPF",
    ]
    /// The currencies with three decimals.
    private static let withThreeDecimals: Set = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"]
}
