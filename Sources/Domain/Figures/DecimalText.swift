/// Decimal numbers as files write them, without floating point.
enum DecimalText {
    /// A number times a power of ten: `-4.99` with three decimals is -4990.
    /// - Parameters:
    ///   - text: digits, with a sign before them and a point among them where there is one; `.99` is one, too.
    ///   - decimals: the exponent, at most 18. Further decimals have to be zeros.
    /// - Returns: nil for all else, and for what does not fit.
    static func scaled(_ text: some StringProtocol, decimals: Int) -> Int64? {
        var value: Int64 = 0
        var digits = 0
        var fraction: Int?
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        for byte in text.utf8.dropFirst(isNegative ? 1 : 0) {
            if byte == UInt8(ascii: "."), fraction == nil {
                fraction = 0
                continue
            }
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            digits += 1
            if let places = fraction {
                guard places < decimals else {
                    guard byte == UInt8(ascii: "0") else { return nil }
                    continue
                }
                fraction = places + 1
            }
            guard let next = appending(Int64(byte - UInt8(ascii: "0")), to: value) else { return nil }
            value = next
        }
        guard digits > 0 else { return nil }
        for _ in (fraction ?? 0)..<decimals {
            guard let next = appending(0, to: value) else { return nil }
            value = next
        }
        return isNegative ? -value : value
    }

    private static func appending(_ digit: Int64, to value: Int64) -> Int64? {
        let (product, overflow) = value.multipliedReportingOverflow(by: 10)
        let (sum, carry) = product.addingReportingOverflow(digit)
        return overflow || carry ? nil : sum
    }
}
