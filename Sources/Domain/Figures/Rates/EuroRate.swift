/// How much of a currency one euro is, exactly: a decimal number above 0, with at most nine digits before the point and nine behind it.
///
/// The European Central Bank's reference rates have at most seven digits before it and six behind.
package struct EuroRate: Sendable, Hashable, CustomStringConvertible {
    /// Billionths of the currency's unit, 1 to 999,999,999,999,999,999.
    package let billionths: Int64

    /// The euro's own.
    package static let euro = EuroRate(uncheckedBillionths: perUnit)

    private static let perUnit: Int64 = 1_000_000_000

    /// A rate; nil where it is not above 0, or too large.
    package init?(billionths: Int64) {
        guard (1..<Self.perUnit * Self.perUnit).contains(billionths) else { return nil }
        self.billionths = billionths
    }

    private init(uncheckedBillionths billionths: Int64) { self.billionths = billionths }

    /// Reads a decimal number, like `1.0823` or `29100`.
    package init(_ text: some StringProtocol) throws(Refusal) {
        let text = Substring(text)
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        let whole = isNegative ? parts[0].dropFirst() : parts[0]
        let fraction = parts.count == 2 ? parts[1] : "0".utf8[...]
        guard parts.count <= 2, let units = Self.number(whole), let rest = Self.number(fraction) else {
            throw .noDecimal
        }
        var scaled = rest
        for _ in fraction.count..<9 { scaled *= 10 }
        let billionths = units * Self.perUnit + scaled
        guard billionths > 0 else { throw .zero }
        guard !isNegative else { throw .negative }
        self.billionths = billionths
    }

    /// Why a text is no rate.
    package enum Refusal: Error, Sendable, Hashable {
        /// It is no decimal number of at most nine digits on each side of a point.
        case noDecimal
        /// It is 0.
        case zero
        /// It is below 0.
        case negative
    }

    /// As it is read, without zeros at the end.
    package var description: String {
        let (units, rest) = billionths.quotientAndRemainder(dividingBy: Self.perUnit)
        guard rest > 0 else { return String(units) }
        let digits = String(Self.perUnit + rest).dropFirst()
        return "\(units).\(digits.prefix(through: digits.lastIndex { $0 != "0" } ?? digits.startIndex))"
    }

    /// A number of one to nine digits.
    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard (1...9).contains(digits.count) else { return nil }
        var value: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }
}
