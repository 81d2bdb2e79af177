public import Base
import NIOCore

extension NetworkAddress {
    /// A peer's address without its port, and without its form as an IPv6 address: one sender, one value. Nil where it has none.
    ///
    /// By its bytes: this is asked of every request, and writing an address to read it again takes longer than checking a token.
    /// Which interface a link-local address belongs to is no part of it.
    init?(_ peer: SocketAddress?) {
        // Family and port are two bytes each, of IPv6 the flow four more (ip(7), ipv6(7)); then comes the address.
        let place: Range<Int>
        switch peer {
        case .v4: place = 4..<8
        case .v6: place = 8..<24
        case .unixDomainSocket, nil: return nil
        }
        let address = peer?.withSockAddr { address, size in
            place.upperBound <= size
                ? NetworkAddress(bytes: UnsafeRawBufferPointer(start: address, count: size)[place]) : nil
        }
        guard let address else { return nil }
        self = address.unmapped
    }

    /// What one party has: the address itself, or the network of 64 bits around an IPv6 address, which is the least that
    /// anybody is given (RFC 6177).
    public var party: NetworkAddress { isIPv4 ? self : NetworkAddress(high: high, low: 0) }
}
