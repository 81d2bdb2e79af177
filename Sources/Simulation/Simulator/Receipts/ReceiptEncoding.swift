/// ASN.1 as much as a receipt needs: a tag, a length, and what they are of.
enum ReceiptEncoding {
    static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag] + length(content.count) + content }

    /// With a marked end instead of a length, which BER allows and DER does not.
    static func marked(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, 0x80] + content + [0, 0] }

    static func integer(_ number: Int64) -> [UInt8] {
        var bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) }
        // As short as it can be without losing its sign.
        while bytes.count > 1, bytes[0] == 0, bytes[1] < 0x80 { bytes.removeFirst() }
        while bytes.count > 1, bytes[0] == 0xFF, bytes[1] >= 0x80 { bytes.removeFirst() }
        return value(0x02, bytes)
    }

    private static func length(_ count: Int) -> [UInt8] {
        guard count >= 128 else { return [UInt8(count)] }
        var digits: [UInt8] = []
        var rest = count
        while rest > 0 {
            digits.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(digits.count)] + digits
    }
}
