import Glibc

/// An IP address as a value, however it was written.
///
/// An IPv4 address and its form as an IPv6 address (`::ffff:192.0.2.1`) are two values: a check whether an address may
/// be called must not confuse them. A check of a sender compares ``unmapped``.
public struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
    /// The first 64 bits; of an IPv4 address those of its mapped form.
    package let high: UInt64
    /// The last 64 bits, likewise.
    package let low: UInt64
    /// Whether it is an IPv4 address.
    public let isIPv4: Bool

    /// The prefix of the 32 bits of an IPv4 address that is written as an IPv6 address (RFC 4291, section 2.5.5.2).
    private static let mappedPrefix: UInt64 = 0xFFFF

    private init(high: UInt64, low: UInt64, isIPv4: Bool) { (self.high, self.low, self.isIPv4) = (high, low, isIPv4) }

    /// An IPv6 address by its halves.
    package init(high: UInt64, low: UInt64) { self.init(high: high, low: low, isIPv4: false) }

    /// An address of 4 or 16 bytes; nil for any other number.
    public init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self.init(high: 0, low: Self.mappedPrefix << 32 | Self.number(bytes), isIPv4: true)
        case 16: self.init(high: Self.number(bytes.prefix(8)), low: Self.number(bytes.dropFirst(8)), isIPv4: false)
        default: return nil
        }
    }

    /// Reads `192.0.2.1`, four decimal numbers without leading zeros, or an IPv6 address without a zone; nil for anything else.
    public init?(_ text: some StringProtocol) {
        // `inet_pton` reads up to a zero byte; the longest is `ffff:…:255.255.255.255` with 45 characters (RFC 4291, section 2.2).
        guard text.utf8.count <= 45, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        let isIPv4 = Self.isDottedDecimal(text)
        var bytes = [UInt8](repeating: 0, count: isIPv4 ? 4 : 16)
        guard inet_pton(isIPv4 ? AF_INET : AF_INET6, String(text), &bytes) == 1 else { return nil }
        self.init(bytes: bytes)
    }

    /// Four numbers of one to three digits, none with a leading zero, which some readers take for octal.
    private static func isDottedDecimal(_ text: some StringProtocol) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
                    && (part.count == 1 || part.first != 0x30)
            }
    }

    /// 4 bytes of an IPv4 address, 16 of an IPv6 address.
    public var bytes: [UInt8] {
        let all = [high, low].flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> UInt64(56 - 8 * $0)) } }
        return isIPv4 ? Array(all[12...]) : all
    }

    /// The IPv4 address, where this is one written as an IPv6 address: so one sender has one value.
    public var unmapped: NetworkAddress {
        NetworkAddress(high: high, low: low, isIPv4: high == 0 && low >> 32 == Self.mappedPrefix)
    }

    /// The address in IPv6 form; an IPv6 address is unchanged.
    public var mapped: NetworkAddress { NetworkAddress(high: high, low: low, isIPv4: false) }

    /// As people write it.
    public var description: String {
        if isIPv4 { return bytes.map { String($0) }.joined(separator: ".") }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func number(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
