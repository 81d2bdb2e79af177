extension Timestamp {
    /// Reads an instant as programs send it (RFC 3339, 5.6): `2026-01-02T03:04:05Z`, `2026-01-02t04:04:05.25+01:00`.
    ///
    /// Years 0000–9999; digits of the fraction beyond milliseconds are cut off. A leap second is the second after it, where the clock
    /// of UTC can have one. Nil for anything else.
    public init?(rfc3339 text: String) {
        var bytes = Array(text.utf8)
        guard bytes.count >= 20 else { return nil }
        if bytes[10] == UInt8(ascii: "t") { bytes[10] = UInt8(ascii: "T") }
        guard let offset = Self.takeOffset(from: &bytes) else { return nil }
        let isLeapSecond = bytes[17] == UInt8(ascii: "6") && bytes[18] == UInt8(ascii: "0")
        if isLeapSecond { (bytes[17], bytes[18]) = (UInt8(ascii: "5"), UInt8(ascii: "9")) }
        guard let local = Timestamp(iso8601: String(decoding: bytes, as: UTF8.self)) else { return nil }
        let instant = local.adding(milliseconds: -offset * 60_000)
        guard isLeapSecond else {
            self = instant
            return
        }
        // Only the last second of a day of UTC can be followed by one.
        let second = instant.millisecondsSince1970 / 1000
        guard ((second % 86_400) + 86_400) % 86_400 == 86_399 else { return nil }
        self = instant.adding(milliseconds: 1000)
    }

    /// Puts `Z` in place of the offset from UTC.
    /// - Returns: the offset in minutes; nil where there is none.
    private static func takeOffset(from bytes: inout [UInt8]) -> Int64? {
        guard let last = bytes.last else { return nil }
        if last | 0x20 == UInt8(ascii: "z") {
            bytes[bytes.count - 1] = UInt8(ascii: "Z")
            return 0
        }
        let offset = Array(bytes.suffix(6))
        let isEast = offset[0] == UInt8(ascii: "+")
        guard bytes.count >= 25, isEast || offset[0] == UInt8(ascii: "-"), offset[3] == UInt8(ascii: ":") else {
            return nil
        }
        let digits = [1, 2, 4, 5].map { Int64(offset[$0]) - 48 }
        guard digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
        let (hours, minutes) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
        guard hours < 24, minutes < 60 else { return nil }
        bytes.removeLast(6)
        bytes.append(UInt8(ascii: "Z"))
        return (hours * 60 + minutes) * (isEast ? 1 : -1)
    }
}
