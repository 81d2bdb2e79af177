/// A number's text as an integer, without ever passing through floating point.
enum JSONNumber: Equatable {
    /// The number is this integer, though it may be written with a fraction of zeros or an exponent.
    case integer(Int64)
    /// The number lies between this integer and the next.
    case fraction(floor: Int64)
    /// The number, rounded down, is beyond `Int64`.
    case tooLarge

    /// Reads a number's text that a scanner has accepted.
    init(_ text: ArraySlice<UInt8>) {
        var rest = text
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest = rest.dropFirst() }
        var digits: [UInt8] = []
        // How many of the digits stand after the point, or before it but unwritten where negative.
        var scale = 0
        var seenPoint = false
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: ".") {
                seenPoint = true
            } else if byte | 0x20 == UInt8(ascii: "e") {
                let isDown = rest.first == UInt8(ascii: "-")
                if isDown || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
                var exponent = 0
                for digit in rest.prefix(3) { exponent = exponent * 10 + Int(digit &- UInt8(ascii: "0")) }
                scale += isDown ? exponent : -exponent
                break
            } else {
                digits.append(byte &- UInt8(ascii: "0"))
                if seenPoint { scale += 1 }
            }
        }
        let cut = digits.suffix(max(0, min(scale, digits.count)))
        let isExact = cut.allSatisfy { $0 == 0 }
        // Downwards from zero, so that Int64's lowest value is within reach.
        var value: Int64 = 0
        for digit in digits.dropLast(cut.count) {
            guard Self.append(digit, to: &value) else {
                self = .tooLarge
                return
            }
        }
        if value != 0 {
            for _ in 0..<max(0, -scale) {
                guard Self.append(0, to: &value) else {
                    self = .tooLarge
                    return
                }
            }
        }
        if isNegative {
            guard !isExact else {
                self = .integer(value)
                return
            }
            let (floor, overflow) = value.subtractingReportingOverflow(1)
            self = overflow ? .tooLarge : .fraction(floor: floor)
        } else {
            guard value != .min else {
                self = .tooLarge
                return
            }
            self = isExact ? .integer(-value) : .fraction(floor: -value)
        }
    }

    private static func append(_ digit: UInt8, to value: inout Int64) -> Bool {
        let (product, tooLarge) = value.multipliedReportingOverflow(by: 10)
        let (difference, tooLow) = product.subtractingReportingOverflow(Int64(digit))
        value = difference
        return !tooLarge && !tooLow
    }
}
