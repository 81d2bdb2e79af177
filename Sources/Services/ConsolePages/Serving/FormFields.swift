/// What a form or a query holds, as browsers write it (application/x-www-form-urlencoded). Of a name that is there twice the first counts.
struct FormFields: Sendable, Hashable {
    /// Each value by its name, decoded.
    let values: [String: String]

    /// The most fields that are read.
    static let most = 200

    /// None.
    init() { values = [:] }

    /// Reads the bytes; nil where they are no UTF-8, hold U+0000, which PostgreSQL cannot keep, or have more fields than any form.
    init?(_ bytes: some Collection<UInt8>) {
        var values: [String: String] = [:]
        var count = 0
        for field in bytes.split(separator: UInt8(ascii: "&")) {
            count += 1
            guard count <= Self.most else { return nil }
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = parts.count == 2 ? Self.decoded(parts[1]) : "" else {
                return nil
            }
            if values[name] == nil { values[name] = value }
        }
        self.values = values
    }

    private static func decoded(_ bytes: some Sequence<UInt8>) -> String? {
        var decoded: [UInt8] = []
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                decoded.append(value)
                rest = rest.dropFirst(2)
            case 0: return nil
            default: decoded.append(byte)
            }
        }
        guard !decoded.contains(0) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }
}
