import Subscriptions

/// Amounts of money as people write them.
enum MoneyText {
    /// `€9.99`, `US$1,234.50`, `CHF 5.00`, `¥230`: with the decimals of the currency, and a third one where there is something in it.
    /// - Parameters:
    ///   - milliunits: thousandths of the currency.
    ///   - currency: ISO 4217; empty where no record says it.
    static func text(_ milliunits: Int64, _ currency: String, in language: Language) -> String {
        guard !currency.isEmpty else { return Money(milliunits: milliunits, currency: currency).amountWords }
        let amount = exact(Money(milliunits: Int64(clamping: milliunits.magnitude), currency: currency))
        let sign = milliunits < 0 ? "-" : ""
        let symbol = symbols(in: language)[currency] ?? common[currency]
        return symbol.map { "\(sign)\($0)\(amount)" } ?? "\(sign)\(currency)\u{A0}\(amount)"
    }

    /// Reads `9`, `9.9` and `9.999` as thousandths; nil for anything else, also where it is negative.
    static func milliunits(_ text: String) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), (1...12).contains(parts[0].utf8.count),
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }), let whole = Int64(parts[0])
        else { return nil }
        guard parts.count == 2 else { return whole * 1000 }
        guard (1...3).contains(parts[1].utf8.count),
            let rest = Int64(String(parts[1]) + String(repeating: "0", count: 3 - parts[1].utf8.count))
        else { return nil }
        return whole * 1000 + rest
    }

    /// What ``milliunits(_:)`` reads, for the field of a form.
    static func field(_ milliunits: Int64) -> String {
        let (whole, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1000)
        var decimals = String(String(1000 + rest).dropFirst())
        while decimals.hasSuffix("0") { decimals.removeLast() }
        return "\(milliunits < 0 ? "-" : "")\(whole)" + (decimals.isEmpty ? "" : ".\(decimals)")
    }

    /// No amount is shown as another one.
    private static func exact(_ money: Money) -> String {
        let words = money.amountWords
        let shown = words.split(separator: ".", omittingEmptySubsequences: false)
        let decimals = String(String(1000 + money.milliunits.magnitude % 1000).dropFirst())
        let written = shown.count == 2 ? shown[1].count : 0
        guard decimals.dropFirst(written).contains(where: { $0 != "0" }) else { return words }
        return "\(shown[0]).\(decimals)"
    }

    /// As the Unicode CLDR has them where the languages differ.
    private static func symbols(in language: Language) -> [String: String] {
        switch language {
        case .english: english
        case .chinese: chinese
        }
    }

    private static let english = ["USD": "$", "CNY": "CN¥", "JPY": "¥"]
    private static let chinese = ["USD": "US$", "CNY": "¥", "JPY": "JP¥"]

    private static let common = [
        "EUR": "€", "GBP": "£", "INR": "₹", "KRW": "₩", "ILS": "₪", "VND": "₫", "PHP": "₱", "BRL": "R$", "CAD": "CA$",
        "AUD": "A$", "NZD": "NZ$", "MXN": "MX$", "HKD": "HK$", "TWD": "NT$",
    ]
}
