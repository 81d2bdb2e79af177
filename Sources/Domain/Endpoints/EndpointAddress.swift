import Glibc

/// An IP address that an endpoint's name resolved to, or that its URL names.
public struct EndpointAddress: Sendable, Hashable, CustomStringConvertible {
    /// 4 bytes of an IPv4 address, 16 of an IPv6 address. That the one may be written as the other is not undone here.
    public let bytes: [UInt8]

    /// An address of 4 or 16 bytes; nil for any other number.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Reads `192.0.2.1`, four decimal numbers without leading zeros, or an IPv6 address without a zone; nil for anything else.
    public init?(_ text: some StringProtocol) {
        // `inet_pton` reads up to a zero byte; the longest address has 45 characters.
        guard text.utf8.count <= 45, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        if Self.isDottedDecimal(text) {
            guard inet_pton(AF_INET, String(text), &bytes) == 1 else { return nil }
            self.bytes = Array(bytes[..<4])
        } else {
            guard inet_pton(AF_INET6, String(text), &bytes) == 1 else { return nil }
            self.bytes = bytes
        }
    }

    /// Four numbers of one to three digits, none with a leading zero: what no reader takes for octal.
    static func isDottedDecimal(_ text: some StringProtocol) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
                    && (part.count == 1 || part.first != 0x30)
            }
    }

    /// Whether it is an IPv4 address.
    public var isIPv4: Bool { bytes.count == 4 }

    /// As people write it.
    public var description: String {
        if isIPv4 { return bytes.map { String($0) }.joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
