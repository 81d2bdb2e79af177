/// A place in the audit and the hash of its row, which stands for the row and for all before it.
package struct AuditMark: Sendable, Hashable {
    /// From 1 on; 0 before the first row.
    package var place: Int64
    /// 32 bytes.
    package var hash: [UInt8]

    /// A mark.
    package init(place: Int64, hash: [UInt8]) {
        self.place = place
        self.hash = hash
    }

    /// Before the first row: what that row has as the hash of the one before it.
    package static let start = AuditMark(place: 0, hash: [UInt8](repeating: 0, count: 32))

    /// The hash in hexadecimal digits.
    package var hexHash: String { Self.hex(hash) }

    /// Reads 64 hexadecimal digits; nil for anything else.
    package init?(place: Int64, hexHash: some StringProtocol) {
        let digits = Array(hexHash.utf8)
        guard place >= 0, digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        for pair in stride(from: 0, to: 64, by: 2) {
            guard let high = Self.digit(digits[pair]), let low = Self.digit(digits[pair + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        self.init(place: place, hash: bytes)
    }

    /// Bytes in hexadecimal digits of lower case.
    package static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
