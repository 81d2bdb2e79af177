import Base
import NIOCore
import Testing

@testable import HTTPKit

@Suite("The address of who is at the other end")
struct PeerAddressTests {
    @Test(
        "is the one that is written, of IPv4 the same in both of its forms, without an interface",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("255.254.0.9", "255.254.0.9"), ("::ffff:192.0.2.1", "192.0.2.1"),
            ("2001:db8::8a2e:370:7334", "2001:db8::8a2e:370:7334"), ("::1", "::1"), ("fe80::1%lo", "fe80::1"),
        ])
    func address(written: String, expected: String) throws {
        let peer = try SocketAddress.makeAddressResolvingHost(written, port: 443)
        #expect(NetworkAddress(peer)?.description == expected)
    }

    @Test("is none where there is no such thing")
    func none() throws {
        #expect(NetworkAddress(nil as SocketAddress?) == nil)
        #expect(NetworkAddress(try SocketAddress(unixDomainSocketPath: "/tmp/socket")) == nil)
    }
}
