public import Base
public import HTTPTypes

/// The proxies whose `X-Forwarded-For` is trusted.
public struct TrustedProxies: Sendable, Hashable, CustomStringConvertible {
    private let blocks: [AddressBlock]

    /// Those of this machine: a proxy beside the receiver, as packages set one up.
    public static let loopback = TrustedProxies(["127.0.0.0/8", "::1"].compactMap { AddressBlock($0) })

    /// The proxies in any of these blocks; by default none.
    public init(_ blocks: [AddressBlock] = []) { self.blocks = blocks }

    /// In the form that operators write.
    public var description: String {
        blocks.isEmpty ? "none" : blocks.map(\.description).joined(separator: ",")
    }

    /// Whether it is one of them, whichever form it and the block are written in: `::/0` contains every address.
    public func contains(_ address: NetworkAddress) -> Bool {
        let (address, mapped) = (address.unmapped, address.mapped)
        return blocks.contains { $0.contains(address) || $0.contains(mapped) }
    }

    /// The sender of a request: the peer, or, where the peer is a trusted proxy, the one in `X-Forwarded-For`.
    ///
    /// Each proxy appends its peer, and a sender writes what it likes before that. So the header is read from its end,
    /// to the first address that is not a trusted proxy. Nil where there is no such address, which means: one of us.
    public func sender(peer: NetworkAddress?, _ headers: HTTPFields) -> NetworkAddress? {
        guard let peer else { return nil }
        guard contains(peer), let forwardedFor = Self.forwardedFor else { return peer }
        for value in headers[values: forwardedFor].reversed() {
            for text in value.split(separator: ",").reversed() {
                // No trusted proxy wrote what is not an address, nor anything before it.
                guard let address = Self.address(text) else { return nil }
                if !contains(address) { return address }
            }
        }
        return nil
    }

    private static let forwardedFor = HTTPField.Name("X-Forwarded-For")

    /// `192.0.2.1`, `192.0.2.1:443`, `2001:db8::1` or `[2001:db8::1]:443`.
    private static func address(_ text: Substring) -> NetworkAddress? {
        let text = text.filter { $0 != " " && $0 != "\t" }
        if text.hasPrefix("[") { return NetworkAddress(text.dropFirst().prefix { $0 != "]" })?.unmapped }
        if text.count(where: { $0 == ":" }) == 1 { return NetworkAddress(text.prefix { $0 != ":" }) }
        return NetworkAddress(text)?.unmapped
    }
}
