/// Money as it is written for people, where the catalog does not say how.
enum MoneyText {
    /// The currency's sign, or its code, and the amount with the digits that the currency has: `¥98.00`, `$0.27`, `CHF 12.00`.
    /// - Parameter milliunits: thousandths of the currency; what the currency has no coins for is rounded half up.
    static func of(_ milliunits: Int64, _ currency: String) -> String {
        let digits = withoutDecimals.contains(currency) ? 0 : 2
        let unit: UInt64 = digits == 0 ? 1000 : 10
        let (whole, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: unit)
        let rounded = whole + (rest * 2 >= unit ? 1 : 0)
        var text = milliunits < 0 && rounded > 0 ? "-" : ""
        text += signs[currency] ?? currency + " "
        guard digits > 0 else { return text + "\(rounded)" }
        let cents = rounded % 100
        return text + "\(rounded / 100)." + (cents < 10 ? "0" : "") + "\(cents)"
    }

    private static let signs = [
        "AUD": "A$", "BRL": "R$", "CAD": "C$", "CNY": "¥", "EUR": "€", "GBP": "£", "HKD": "HK$", "INR": "₹", "JPY": "¥",
        "KRW": "₩", "NZD": "NZ$", "SGD": "S$", "TWD": "NT$", "USD": "$", "VND": "₫",
    ]
    /// ISO 4217 gives these no minor unit.
    private static let withoutDecimals: Set<String> = ["CLP", "JPY", "KRW", "VND"]
}
