/// A share of a price, in thousandths of a percent: 30000 is 30 %.
package struct PriceShare: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// All of it.
    package static let whole: Int64 = 100_000
    /// Nothing of it.
    package static let none = PriceShare(clamping: 0)

    /// From 0 to ``whole``.
    package let thousandthsOfPercent: Int64

    /// The nearest share that there is.
    package init(clamping thousandthsOfPercent: Int64) {
        self.thousandthsOfPercent = min(max(thousandthsOfPercent, 0), Self.whole)
    }

    /// Reads `30%` and `12.5%`, with at most three decimals; nil for all else and for more than `100%`.
    package init?(_ text: String) {
        guard text.utf8.last == UInt8(ascii: "%"), let number = DecimalText.scaled(text.dropLast(), decimals: 3),
            (0...Self.whole).contains(number), text.utf8.first != UInt8(ascii: "-")
        else { return nil }
        thousandthsOfPercent = number
    }

    /// As it is read, without zeros at the end.
    package var description: String {
        let (percent, rest) = thousandthsOfPercent.quotientAndRemainder(dividingBy: 1000)
        var decimals = String(String(1000 + rest).dropFirst())
        while decimals.last == "0" { decimals.removeLast() }
        return decimals.isEmpty ? "\(percent)%" : "\(percent).\(decimals)%"
    }

    package static func < (one: PriceShare, other: PriceShare) -> Bool {
        one.thousandthsOfPercent < other.thousandthsOfPercent
    }
}
