/// A UUID, as in Apple's notifications and account tokens: 128 bits, equal whatever the letter case of the text.
public struct UniqueIdentifier: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The first sixteen hexadecimal digits.
    public let high: UInt64
    /// The last sixteen hexadecimal digits.
    public let low: UInt64

    /// Creates the value from its two halves.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads the form 8-4-4-4-12 in either letter case; nil for anything else.
    public init?(_ text: some StringProtocol) { self.init(utf8: text.utf8) }

    /// Reads this form from its bytes.
    @inlinable public init?(utf8 text: some Sequence<UInt8>) {
        var halves: (UInt64, UInt64) = (0, 0)
        var position = 0
        for byte in text {
            defer { position += 1 }
            switch position {
            case 8, 13, 18, 23:
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            case 36...:
                return nil
            default:
                break
            }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            if position < 18 {
                halves.0 = halves.0 << 4 | UInt64(digit)
            } else {
                halves.1 = halves.1 << 4 | UInt64(digit)
            }
        }
        guard position == 36 else { return nil }
        self.init(high: halves.0, low: halves.1)
    }

    /// The order of the text form.
    public static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }

    /// The form 8-4-4-4-12 in lower case, as PostgreSQL prints a uuid.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.length) { text in
            fill(text)
            return Self.length
        }
    }

    /// Appends ``description``.
    public func write(to bytes: inout [UInt8]) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.length) { text in
            fill(text)
            bytes.append(contentsOf: text)
        }
    }

    /// This as an appAccountToken; nil for the nil UUID (RFC 9562, section 5.9), which is none: client libraries write
    /// it where the app set none.
    public var accountToken: UniqueIdentifier? { high == 0 && low == 0 ? nil : self }

    private static let length = 36

    private func fill(_ text: UnsafeMutableBufferPointer<UInt8>) {
        var place = 0
        for index in 0..<32 {
            if index == 8 || index == 12 || index == 16 || index == 20 {
                text[place] = UInt8(ascii: "-")
                place += 1
            }
            let half = index < 16 ? high : low
            let digit = UInt8(truncatingIfNeeded: half >> UInt64(60 - 4 * (index % 16)) & 0xF)
            text[place] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            place += 1
        }
    }
}
