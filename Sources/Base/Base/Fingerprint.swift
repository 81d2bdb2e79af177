package import Crypto

/// A SHA-256: of a certificate, of a header, of a payload's JSON text.
public struct Fingerprint: Sendable, Hashable, Comparable, CustomStringConvertible {
    private let words: InlineWords

    /// The fingerprint of these bytes.
    public init(of bytes: [UInt8]) {
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        self.init(hash.finalize())
    }

    /// Reads 64 hexadecimal digits in either letter case, with or without colons between bytes as certificate tools print them;
    /// nil for anything else.
    public init?(_ text: some StringProtocol) {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in text.utf8 {
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
            case UInt8(ascii: ":") where high == nil && !bytes.isEmpty: continue
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard bytes.count == 32, high == nil else { return nil }
        words = InlineWords(bytes)
    }

    private init(_ words: InlineWords) { self.words = words }

    /// A digest that was computed.
    package init(_ digest: SHA256.Digest) { words = digest.withUnsafeBytes { InlineWords($0) } }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        [words.first, words.second, words.third, words.fourth].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
    }

    /// The order of the bytes.
    public static func < (left: Self, right: Self) -> Bool {
        (left.words.first, left.words.second, left.words.third, left.words.fourth)
            < (right.words.first, right.words.second, right.words.third, right.words.fourth)
    }

    /// 64 hexadecimal digits in lower case.
    public var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// 32 bytes without an allocation of their own.
    private struct InlineWords: Sendable, Hashable {
        let first: UInt64
        let second: UInt64
        let third: UInt64
        let fourth: UInt64

        init(_ first: UInt64, _ second: UInt64, _ third: UInt64, _ fourth: UInt64) {
            (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
        }

        /// Takes 32 bytes.
        init(_ bytes: some Collection<UInt8>) {
            var words: [UInt64] = []
            var rest = bytes[...]
            for _ in 0..<4 {
                words.append(rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
                rest = rest.dropFirst(8)
            }
            (first, second, third, fourth) = (words[0], words[1], words[2], words[3])
        }

        init(_ bytes: UnsafeRawBufferPointer) {
            first = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self))
            second = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            third = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            fourth = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
        }
    }

    /// Apple Root CA, valid until 2035, as Apple publishes it at <https://www.apple.com/certificateauthority/>. Its key is RSA.
    public static let appleRoot = Fingerprint(
        InlineWords(
            0xb0b1_730e_cbc7_ff45, 0x0514_2c49_f129_5e6e, 0xda6b_caed_7e2c_68c5, 0xbe91_b5a1_1001_f024))

    /// Apple Root CA - G3, valid until 2039, as Apple publishes it at <https://www.apple.com/certificateauthority/>.
    public static let appleRootG3 = Fingerprint(
        InlineWords(
            0x6334_3abf_b89a_6a03, 0xebb5_7e9b_3f5f_a7be, 0x7c4f_5c75_6f30_17b3, 0xa8c4_88c3_653e_9179))
}
