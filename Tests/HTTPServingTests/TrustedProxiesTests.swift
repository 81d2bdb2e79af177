import Base
import HTTPKit
import HTTPTypes
import Testing

@Suite("Who sent a request")
struct TrustedProxiesTests {
    private let proxies = TrustedProxies(["10.0.0.0/8", "::1"].compactMap { AddressBlock($0) })

    private func sender(_ peer: String, _ values: String...) -> String? {
        var headers = HTTPFields()
        for value in values {
            guard let name = HTTPField.Name("X-Forwarded-For") else { return nil }
            headers.append(HTTPField(name: name, value: value))
        }
        return proxies.sender(peer: NetworkAddress(peer), headers)?.description
    }

    @Test("is the peer, whatever it says of others, unless it is a proxy of ours")
    func stranger() {
        #expect(sender("203.0.113.9") == "203.0.113.9")
        #expect(sender("203.0.113.9", "198.51.100.1") == "203.0.113.9")
    }

    @Test("is the last address before our proxies' own, whatever a sender wrote before it")
    func forwarded() {
        #expect(sender("10.0.0.1", "198.51.100.1") == "198.51.100.1")
        #expect(sender("10.0.0.1", "17.0.0.1, 198.51.100.1") == "198.51.100.1")
        #expect(sender("10.0.0.1", "17.0.0.1, 198.51.100.1,10.0.0.7") == "198.51.100.1")
        #expect(sender("10.0.0.1", "17.0.0.1", "198.51.100.1") == "198.51.100.1")
        #expect(sender("::1", "[2001:db8::1]:443") == "2001:db8::1")
        #expect(sender("::1", "198.51.100.1:5123") == "198.51.100.1")
    }

    @Test("is one whether an address is written as IPv4's or in its form as IPv6's, and whichever way the proxies are")
    func mapped() throws {
        #expect(sender("::ffff:10.0.0.1", "::ffff:198.51.100.1") == "198.51.100.1")
        #expect(sender("::ffff:10.0.0.1", "[::ffff:198.51.100.1]:443, ::ffff:10.0.0.2") == "198.51.100.1")
        let inside = try #require(NetworkAddress("10.1.2.3"))
        for block in ["::/0", "::ffff:10.0.0.0/104", "10.1.2.3"] {
            let proxies = TrustedProxies([try #require(AddressBlock(block))])
            #expect(proxies.contains(inside) && proxies.contains(inside.mapped), "\(block)")
        }
    }

    @Test("belongs to a party: itself, or the network of 64 bits around it")
    func party() {
        #expect(NetworkAddress("192.0.2.1")?.party == NetworkAddress("192.0.2.1"))
        #expect(NetworkAddress("2001:db8::1")?.party == NetworkAddress("2001:db8::ffff:1")?.party)
        #expect(NetworkAddress("2001:db8::1")?.party != NetworkAddress("2001:db8:0:1::1")?.party)
    }

    @Test("is nobody in particular where a proxy does not say, or says what no address is")
    func unknown() {
        #expect(sender("10.0.0.1") == nil)
        #expect(sender("10.0.0.1", "10.0.0.2") == nil)
        #expect(sender("10.0.0.1", "17.0.0.1, unknown") == nil)
    }
}
