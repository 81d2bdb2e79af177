/// A network of addresses: `10.0.0.0/8`, `fc00::/7`, or one address.
public struct EndpointNetwork: Sendable, Hashable, CustomStringConvertible {
    /// Its first address.
    public let address: EndpointAddress
    /// So many bits of it are what all of its addresses begin with.
    public let prefix: Int

    /// Reads an address, or an address, a slash and a number of bits. Nil for anything else, also where a bit is set after those.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = EndpointAddress(first) else { return nil }
        let bits = address.bytes.count * 8
        var prefix = bits
        if parts.count == 2 {
            let digits = parts[1].utf8
            guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(parts[1]), number <= bits
            else { return nil }
            prefix = number
        }
        self.address = address
        self.prefix = prefix
        guard (prefix..<bits).allSatisfy({ address.bytes[$0 / 8] >> UInt8(7 - $0 % 8) & 1 == 0 }) else { return nil }
    }

    /// Whether an address is in it. An IPv4 address is in none of IPv6's.
    public func contains(_ other: EndpointAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        let whole = prefix / 8
        guard other.bytes[..<whole] == address.bytes[..<whole] else { return false }
        let rest = prefix % 8
        return rest == 0 || (other.bytes[whole] ^ address.bytes[whole]) >> UInt8(8 - rest) == 0
    }

    /// As people write it.
    public var description: String { "\(address)/\(prefix)" }
}
