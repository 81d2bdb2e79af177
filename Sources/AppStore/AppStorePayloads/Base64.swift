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
        let alphabet = self == .url ? Self.urlAlphabet : Self.standardAlphabet
        let tail = bytes.count % 3
        let whole = bytes.count - tail
        return alphabet.withUnsafeBufferPointer { alphabet in
            [UInt8](unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { output, written in
                bytes.withUnsafeBufferPointer { input in
                    for read in stride(from: 0, to: whole, by: 3) {
                        let (first, second, third) = (input[read], input[read + 1], input[read + 2])
                        output[written] = alphabet[Int(first >> 2)]
                        output[written + 1] = alphabet[Int((first & 0x3) << 4 | second >> 4)]
                        output[written + 2] = alphabet[Int((second & 0xF) << 2 | third >> 6)]
                        output[written + 3] = alphabet[Int(third & 0x3F)]
                        written += 4
                    }
                    guard tail > 0 else { return }
                    let first = input[whole]
                    let second = tail == 2 ? input[whole + 1] : 0
                    output[written] = alphabet[Int(first >> 2)]
                    output[written + 1] = alphabet[Int((first & 0x3) << 4 | second >> 4)]
                    written += 2
                    if tail == 2 {
                        output[written] = alphabet[Int((second & 0xF) << 2)]
                        written += 1
                    }
                    guard self == .standard else { return }
                    for _ in tail..<3 {
                        output[written] = UInt8(ascii: "=")
                        written += 1
                    }
                }
            }
        }
    }

    /// The bytes of this text, or nil if it is anything but the one text that ``encode(_:)`` gives for them.
    public func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var length = text.count
        if self == .standard {
            guard length % 4 == 0 else { return nil }
            if length > 0, text[length - 1] == UInt8(ascii: "=") { length -= 1 }
            if length > 0, length % 4 == 3, text[length - 1] == UInt8(ascii: "=") { length -= 1 }
        }
        let tail = length % 4
        guard tail != 1 else { return nil }
        let whole = length - tail
        var valid = true
        let table = self == .url ? Self.urlValues : Self.standardValues
        let bytes = table.withUnsafeBufferPointer { values in
            [UInt8](unsafeUninitializedCapacity: length / 4 * 3 + 2) { output, initialized in
                // A value has six bits; `invalid` has the eighth, which survives being combined with others.
                var seen: UInt8 = 0
                var read = 0
                var written = 0
                while read < whole {
                    let first = values[Int(text[read])]
                    let second = values[Int(text[read &+ 1])]
                    let third = values[Int(text[read &+ 2])]
                    let fourth = values[Int(text[read &+ 3])]
                    seen |= first | second | third | fourth
                    output[written] = first << 2 | second >> 4
                    output[written &+ 1] = second << 4 | third >> 2
                    output[written &+ 2] = third << 6 | fourth
                    read &+= 4
                    written &+= 3
                }
                if tail > 0 {
                    let first = values[Int(text[whole])]
                    let second = values[Int(text[whole + 1])]
                    seen |= first | second
                    output[written] = first << 2 | second >> 4
                    written += 1
                    var unused = second & 0xF
                    if tail == 3 {
                        let third = values[Int(text[whole + 2])]
                        seen |= third
                        output[written] = second << 4 | third >> 2
                        written += 1
                        unused = third & 0x3
                    }
                    if unused != 0 { seen |= Self.invalid }
                }
                valid = seen & Self.invalid == 0
                initialized = valid ? written : 0
            }
        }
        return valid ? bytes : nil
    }

    /// The bytes of this text, or nil if it is anything but the one text that ``encode(_:)`` gives for them.
    public func decode(_ text: [UInt8]) -> [UInt8]? {
        text.withUnsafeBufferPointer { decode($0) }
    }

    private static let invalid: UInt8 = 0x80
    private static let standardAlphabet = alphabet("+", "/")
    private static let urlAlphabet = alphabet("-", "_")
    private static let standardValues = values(standardAlphabet)
    private static let urlValues = values(urlAlphabet)

    private static func alphabet(_ last: Unicode.Scalar...) -> [UInt8] {
        Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8) + last.map { UInt8(ascii: $0) }
    }

    private static func values(_ alphabet: [UInt8]) -> [UInt8] {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }
}
