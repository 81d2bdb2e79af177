/// A range of addresses as operators write it: `10.0.0.0/8`, `2001:db8::/32`, or one address.
public struct AddressBlock: Sendable, Hashable, CustomStringConvertible {
    private let base: NetworkAddress
    /// How many of the 128 bits are the same for all of them.
    private let prefix: Int

    /// The block that a text names; nil where it names none.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let base = NetworkAddress(first) else { return nil }
        // Those of IPv4 are the last 32 of the 128.
        let width = first.contains(":") ? 128 : 32
        var prefix = width
        if parts.count == 2 {
            guard let number = Int(parts[1]), (0...width).contains(number) else { return nil }
            prefix = number
        }
        self.base = base
        self.prefix = prefix + 128 - width
    }

    /// As operators write it.
    public var description: String {
        let width = base.isIPv4 ? 32 : 128
        let length = prefix - 128 + width
        return length == width ? base.description : "\(base)/\(length)"
    }

    /// Whether an address lies in it.
    public func contains(_ address: NetworkAddress) -> Bool {
        let high = address.bits.high ^ base.bits.high
        let low = address.bits.low ^ base.bits.low
        if prefix <= 64 { return Self.top(prefix, of: high) == 0 }
        return high == 0 && Self.top(prefix - 64, of: low) == 0
    }

    /// The first so many bits.
    private static func top(_ count: Int, of bits: UInt64) -> UInt64 { count == 0 ? 0 : bits >> (64 - count) }
}
