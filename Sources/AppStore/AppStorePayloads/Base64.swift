/// Base64 as JWS needs it: the url alphabet without padding for the segments, the standard one with padding for certificates.
///
/// Strict in both directions, because two texts for the same bytes are two names for one thing: no white space, no line breaks, no
/// padding where there is none, no missing padding where there is some, and the unused bits of the last character are zero.
public enum Base64: Sendable {
    /// `+` and `/`, padded with `=` (RFC 4648 section 4).
    case standard
    /// `-` and `_`, never padded (RFC 4648 section 5, as RFC 7515 uses it).
    case url

    /// The text for these bytes.
    public func encode(_ bytes: [UInt8]) -> [UInt8] {
        let pairs = self == .url ? Self.urlPairs : Self.standardPairs
        return [UInt8](unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { output, initialized in
            initialized = pairs.withUnsafeBufferPointer { pairs in
                bytes.withUnsafeBytes { write($0, to: UnsafeMutableRawBufferPointer(output), by: pairs) }
            }
        }
    }

    /// - Returns: how many characters there are.
    private func write(
        _ input: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer, by pairs: UnsafeBufferPointer<UInt16>
    ) -> Int {
        let tail = input.count % 3
        let whole = input.count - tail
        var (read, written) = (0, 0)
        // Eight bytes are read, and six of them used.
        while read + 8 <= input.count {
            let six = Int(
                truncatingIfNeeded: UInt64(bigEndian: input.loadUnaligned(fromByteOffset: read, as: UInt64.self)) >> 16)
            let low = UInt64(pairs[six >> 36]) | UInt64(pairs[six >> 24 & 0xFFF]) << 16
            let high = UInt64(pairs[six >> 12 & 0xFFF]) << 32 | UInt64(pairs[six & 0xFFF]) << 48
            output.storeBytes(of: (low | high).littleEndian, toByteOffset: written, as: UInt64.self)
            read += 6
            written += 8
        }
        while read < whole {
            let three = Int(input[read]) << 16 | Int(input[read + 1]) << 8 | Int(input[read + 2])
            let text = UInt32(pairs[three >> 12]) | UInt32(pairs[three & 0xFFF]) << 16
            output.storeBytes(of: text.littleEndian, toByteOffset: written, as: UInt32.self)
            read += 3
            written += 4
        }
        guard tail > 0 else { return written }
        let last = Int(input[whole]) << 16 | (tail == 2 ? Int(input[whole + 1]) << 8 : 0)
        output.storeBytes(of: pairs[last >> 12].littleEndian, toByteOffset: written, as: UInt16.self)
        written += 2
        if tail == 2 {
            output[written] = UInt8(truncatingIfNeeded: pairs[last & 0xFFF])
            written += 1
        }
        guard self == .standard else { return written }
        for _ in tail..<3 {
            output[written] = UInt8(ascii: "=")
            written += 1
        }
        return written
    }

    /// The bytes of this text, or nil if it is anything but the one text that ``encode(_:)`` gives for them.
    public func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var length = text.count
        if self == .standard {
            guard length % 4 == 0 else { return nil }
            if length > 0, text[length - 1] == UInt8(ascii: "=") { length -= 1 }
            if length > 0, length % 4 == 3, text[length - 1] == UInt8(ascii: "=") { length -= 1 }
        }
        guard length % 4 != 1 else { return nil }
        let values = self == .url ? Self.urlValues : Self.standardValues
        var isValid = true
        // Four bytes are written where three are meant.
        let bytes = [UInt8](unsafeUninitializedCapacity: length / 4 * 3 + 4) { output, initialized in
            let written = values.withUnsafeBufferPointer { values in
                Self.write(
                    UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[..<length]),
                    to: UnsafeMutableRawBufferPointer(output), by: values)
            }
            isValid = written != nil
            initialized = written ?? 0
        }
        return isValid ? bytes : nil
    }

    /// - Returns: how many bytes there are; nil if this is not the text for any.
    private static func write(
        _ text: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer, by values: UnsafeBufferPointer<UInt32>
    ) -> Int? {
        let tail = text.count % 4
        let whole = text.count - tail
        var seen: UInt32 = 0
        var (read, written) = (0, 0)
        while read < whole {
            let four = Int(UInt32(littleEndian: text.loadUnaligned(fromByteOffset: read, as: UInt32.self)))
            let bytes =
                values[four & 0xFF] | values[0x100 + (four >> 8 & 0xFF)] | values[0x200 + (four >> 16 & 0xFF)]
                | values[0x300 + four >> 24]
            seen |= bytes
            output.storeBytes(of: bytes.littleEndian, toByteOffset: written, as: UInt32.self)
            read += 4
            written += 3
        }
        if tail > 0 {
            var last = values[Int(text[whole])] | values[0x100 + Int(text[whole + 1])]
            if tail == 3 { last |= values[0x200 + Int(text[whole + 2])] }
            seen |= last
            // What is beyond the bytes that it ends with are bits that nothing used.
            if last >> UInt32(8 * (tail - 1)) & 0xFFFF != 0 { seen |= invalid }
            output.storeBytes(of: last.littleEndian, toByteOffset: written, as: UInt32.self)
            written += tail - 1
        }
        return seen & invalid == 0 ? written : nil
    }

    /// The bytes of this text, or nil if it is anything but the one text that ``encode(_:)`` gives for them.
    public func decode(_ text: [UInt8]) -> [UInt8]? {
        text.withUnsafeBufferPointer { decode($0) }
    }

    /// Two characters for each twelve bits, the first one in the low byte: each look-up is as good as two.
    private static let standardPairs = pairs("+", "/")
    private static let urlPairs = pairs("-", "_")
    /// The bits of each character as the first, second, third and fourth of four: four tables in a row. The bits stand
    /// at their place in the three bytes, the first byte lowest. The highest byte is `invalid` or zero.
    private static let standardValues = values("+", "/")
    private static let urlValues = values("-", "_")
    private static let invalid: UInt32 = 0xFF00_0000

    private static func alphabet(_ last: [Unicode.Scalar]) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8) + last.map { UInt8(ascii: $0) }
    }

    private static func pairs(_ last: Unicode.Scalar...) -> [UInt16] {
        let alphabet = alphabet(last)
        return (0..<0x1000).map { UInt16(alphabet[$0 >> 6]) | UInt16(alphabet[$0 & 0x3F]) << 8 }
    }

    private static func values(_ last: Unicode.Scalar...) -> [UInt32] {
        var values = [UInt32](repeating: invalid, count: 0x400)
        for (value, character) in alphabet(last).enumerated() {
            for place in 0..<4 {
                values[place << 8 + Int(character)] = (UInt32(value) << UInt32(26 - 6 * place)).byteSwapped
            }
        }
        return values
    }
}
