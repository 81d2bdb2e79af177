/// A range of addresses as operators write it: `10.0.0.0/8`, `2001:db8::/32`, or one address.
public struct AddressBlock: Sendable, Hashable, CustomStringConvertible {
    /// Its first address.
    public let base: NetworkAddress
    /// How many of the 128 bits all of its addresses share; those of IPv4 are the last 32.
    private let prefix: Int

    /// Reads an address, or an address, a slash and a number of bits. Otherwise nil, also where a bit is set after
    /// those: then one of the two is a mistake.
    public init?(_ text: some StringProtocol) {
        guard let (address, prefix) = Self.parts(text), address == Self.first(of: address, prefix) else { return nil }
        (base, self.prefix) = (address, prefix)
    }

    /// The block around an address: `10.1.2.3/8` is `10.0.0.0/8`. Nil where the text is not one.
    public init?(around text: some StringProtocol) {
        guard let (address, prefix) = Self.parts(text) else { return nil }
        (base, self.prefix) = (Self.first(of: address, prefix), prefix)
    }

    private static func parts(_ text: some StringProtocol) -> (NetworkAddress, prefix: Int)? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = NetworkAddress(first) else { return nil }
        guard parts.count == 2 else { return (address, 128) }
        let width = address.isIPv4 ? 32 : 128
        let digits = parts[1].utf8
        guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int(parts[1]), number <= width
        else { return nil }
        return (address, 128 - width + number)
    }

    private static func first(of address: NetworkAddress, _ prefix: Int) -> NetworkAddress {
        let high = prefix >= 64 ? address.high : address.high & ~(UInt64.max >> prefix)
        let low = prefix <= 64 ? 0 : prefix == 128 ? address.low : address.low & ~(UInt64.max >> (prefix - 64))
        let first = NetworkAddress(high: high, low: low)
        return address.isIPv4 ? first.unmapped : first
    }

    /// In the form that operators write.
    public var description: String {
        let length = prefix - (base.isIPv4 ? 96 : 0)
        return prefix == 128 ? base.description : "\(base)/\(length)"
    }

    /// Whether an address is in it. No IPv4 address is in a block of IPv6.
    public func contains(_ address: NetworkAddress) -> Bool {
        guard address.isIPv4 == base.isIPv4 else { return false }
        let (high, low) = (address.high ^ base.high, address.low ^ base.low)
        if prefix <= 64 { return Self.top(prefix, of: high) == 0 }
        return high == 0 && Self.top(prefix - 64, of: low) == 0
    }

    /// The first so many bits.
    private static func top(_ count: Int, of bits: UInt64) -> UInt64 { count == 0 ? 0 : bits >> (64 - count) }
}
