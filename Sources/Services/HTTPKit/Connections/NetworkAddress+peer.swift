public import Base
import NIOCore

extension NetworkAddress {
    /// A peer's address without its port, and without its form as an IPv6 address: so one sender has one value. Nil
    /// where it has none.
    ///
    /// Read from its bytes: this runs for every request, and formatting and parsing an address takes longer than
    /// checking a token. A link-local address's interface is not part of it.
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

    /// The party of an address: the address itself, or an IPv6 address's network of 64 bits, which is the smallest
    /// that a customer is assigned (RFC 6177).
    public var party: NetworkAddress { isIPv4 ? self : NetworkAddress(high: high, low: 0) }
}
