import NIOCore
public import NetworkAddresses

extension NetworkAddress {
    /// A peer's address without its port, and without its form as an IPv6 address: one sender, one value. Nil where it has none.
    init?(_ peer: SocketAddress?) {
        // A link-local address names its interface after a percent sign.
        guard let text = peer?.ipAddress, let address = NetworkAddress(text.prefix { $0 != "%" }) else { return nil }
        self = address.unmapped
    }

    /// What one party has: the address itself, or the network of 64 bits around an IPv6 address, which is the least that
    /// anybody is given (RFC 6177).
    public var party: NetworkAddress { isIPv4 ? self : NetworkAddress(high: high, low: 0) }
}
