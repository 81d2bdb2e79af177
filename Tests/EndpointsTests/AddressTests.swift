import Base
import Testing

struct AddressTests {
    /// The blocks of IANA's registries of special-purpose addresses (IPv4, IPv6), of multicast, and of what is not given out: the first and
    /// the last address of each.
    @Test(
        "no address of the registries is called",
        arguments: [
            ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"), ("100.64.0.0", "100.127.255.255"),
            ("127.0.0.0", "127.255.255.255"), ("169.254.0.0", "169.254.255.255"), ("172.16.0.0", "172.31.255.255"),
            ("192.0.0.0", "192.0.0.255"), ("192.0.2.0", "192.0.2.255"), ("192.31.196.0", "192.31.196.255"),
            ("192.52.193.0", "192.52.193.255"), ("192.88.99.0", "192.88.99.255"), ("192.168.0.0", "192.168.255.255"),
            ("192.175.48.0", "192.175.48.255"), ("198.18.0.0", "198.19.255.255"), ("198.51.100.0", "198.51.100.255"),
            ("203.0.113.0", "203.0.113.255"), ("224.0.0.0", "239.255.255.255"), ("240.0.0.0", "255.255.255.255"),
            ("::", "::1"), ("::2", "::ffff:ffff"), ("::ffff:0.0.0.0", "::ffff:255.255.255.255"),
            ("::ffff:0:0:0", "::ffff:0:ffff:ffff"), ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
            ("100::", "100::ffff:ffff:ffff:ffff"), ("100:0:0:1::", "100::1:ffff:ffff:ffff:ffff"),
            ("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), ("2620:4f:8000::", "2620:4f:8000:ffff::1"),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"), ("5f00::", "5f00:ffff::1"),
            ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), ("fe80::", "febf:ffff::1"),
            ("fec0::", "feff:ffff::1"), ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            // Networks not given out yet, and the address at which Azure tells its machines their secrets.
            ("4000::", "fbff:ffff::1"), ("168.63.129.16", "168.63.129.16"),
        ])
    func special(_ first: String, _ last: String) throws {
        for text in [first, last] {
            let address = try #require(NetworkAddress(text))
            #expect(address.purpose != nil, "\(text)")
            #expect(throws: AddressRefusal.self) { try AddressPolicy().addresses([address]) }
        }
    }

    @Test(
        "what lies beside the blocks is called",
        arguments: [
            "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
            "128.0.0.0", "168.63.129.15", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
            "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "203.0.112.255",
            "203.0.114.0", "223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2606:4700::1111", "2003::1",
            "2620:4f:7fff::1", "3ffe:ffff::1", "2a00::1", "64:ff9b::8.8.8.8",
        ])
    func `public`(_ text: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(address.purpose == nil)
        #expect(try AddressPolicy().addresses([address]) == [address])
    }

    @Test(
        "a way to an IPv4 address through IPv6 is no way around",
        arguments: [
            "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::10.0.0.1",
            "64:ff9b::127.0.0.1", "64:ff9b::a00:1", "64:ff9b::169.254.169.254", "64:ff9b:1::10.0.0.1",
            "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::1", "::ffff:0:127.0.0.1",
        ])
    func translated(_ text: String) throws {
        #expect(try #require(NetworkAddress(text)).purpose == .translated)
    }

    @Test func `One address that is refused refuses all that a name resolves to`() throws {
        let addresses = try ["8.8.8.8", "10.0.0.1", "1.1.1.1"].map { try #require(NetworkAddress($0)) }
        #expect(throws: AddressRefusal.address(addresses[1], .private)) { try AddressPolicy().addresses(addresses) }
        #expect(throws: AddressRefusal.unresolved) { try AddressPolicy().addresses([]) }
    }

    @Test func `A network that is allowed is called, and no other`() throws {
        let policy = AddressPolicy(
            allowedNetworks: try ["127.0.0.0/8", "fd00:12::/32"].map { try #require(AddressBlock($0)) })
        for text in ["127.0.0.1", "127.200.0.1", "fd00:12::1"] {
            #expect(throws: Never.self) { try policy.addresses([#require(NetworkAddress(text))]) }
        }
        for text in ["10.0.0.1", "::1", "fd00:13::1", "::ffff:127.0.0.1"] {
            #expect(throws: AddressRefusal.self) { try policy.addresses([#require(NetworkAddress(text))]) }
        }
        #expect(throws: Never.self) { try policy.url("https://localhost/hook") }
    }

    @Test func `What is no place to be called is not allowed by any setting`() throws {
        let policy = AddressPolicy(
            allowedNetworks: try ["0.0.0.0/0", "::/0"].map { try #require(AddressBlock($0)) })
        for text in ["0.0.0.0", "224.0.0.1", "255.255.255.255", "::", "ff02::1", "::ffff:127.0.0.1", "2002:7f00:1::"] {
            #expect(throws: AddressRefusal.self) { try policy.addresses([#require(NetworkAddress(text))]) }
        }
        #expect(throws: Never.self) { try policy.addresses([#require(NetworkAddress("10.0.0.1"))]) }
    }
}
