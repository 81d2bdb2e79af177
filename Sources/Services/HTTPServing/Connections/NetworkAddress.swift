import Glibc
import NIOCore

/// An IP address as a value. An IPv4 address equals its form as an IPv6 address (`::ffff:192.0.2.1`): one sender, one value.
public struct NetworkAddress: Sendable, Hashable, CustomStringConvertible {
    /// The 128 bits of it, the first 64 and the last 64.
    let bits: (high: UInt64, low: UInt64)

    private static let mapped: UInt64 = 0xFFFF_0000_0000

    init(high: UInt64, low: UInt64) { bits = (high, low) }

    /// The address that a text names, such as `192.0.2.1` or `2001:db8::1`; nil where it names none.
    public init?(_ text: some StringProtocol) {
        // The longest is `ffff:…:255.255.255.255` with 45 characters (RFC 4291, section 2.2).
        guard text.utf8.count <= 45 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, String(text), &bytes) == 1 {
            self.init(high: 0, low: Self.mapped | Self.number(bytes[..<4]))
        } else if inet_pton(AF_INET6, String(text), &bytes) == 1 {
            self.init(high: Self.number(bytes[..<8]), low: Self.number(bytes[8...]))
        } else {
            return nil
        }
    }

    /// A peer's address without its port; nil where it has none.
    init?(_ peer: SocketAddress?) {
        guard let text = peer?.ipAddress else { return nil }
        // A link-local address names its interface after a percent sign.
        self.init(text.prefix { $0 != "%" })
    }

    /// Whether it is an IPv4 address.
    public var isIPv4: Bool { bits.high == 0 && bits.low >> 32 == 0xFFFF }

    /// What one party has: the address itself, or the network of 64 bits around an IPv6 address, which is the least that
    /// anybody is given (RFC 6177).
    public var party: NetworkAddress { isIPv4 ? self : NetworkAddress(high: bits.high, low: 0) }

    /// As people write it.
    public var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if isIPv4 {
            var address = UInt32(truncatingIfNeeded: bits.low).bigEndian
            inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
        } else {
            var address = [bits.high.bigEndian, bits.low.bigEndian]
            inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Whether two are one.
    public static func == (one: NetworkAddress, other: NetworkAddress) -> Bool { one.bits == other.bits }

    /// Both halves.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(bits.high)
        hasher.combine(bits.low)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
