extension String {
    /// The text as it stands in a part of a URL's path, or in a value of its query. Letters and digits of ASCII and `-._~` stand for themselves
    /// (RFC 3986, 2.3). Every other byte is written as `%` and two digits.
    /// - Parameter more: ASCII characters that are left as they are, too.
    package func percentEncoded(keeping more: StaticString = "") -> String {
        func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                true
            default: more.withUTF8Buffer { $0.contains(byte) }
            }
        }
        // Most ids, names and dates.
        if utf8.allSatisfy(isPlain) { return self }
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count * 2)
        for byte in utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
