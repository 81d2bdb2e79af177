import Base
import Testing

@Suite("An address")
struct NetworkAddressTests {
    @Test("is one value however it is written")
    func values() {
        #expect(NetworkAddress("2001:db8::1") == NetworkAddress("2001:0db8:0:0:0:0:0:1"))
        #expect(NetworkAddress("192.0.2.1")?.description == "192.0.2.1")
        #expect(NetworkAddress("2001:0db8::0001")?.description == "2001:db8::1")
        #expect(NetworkAddress(bytes: [192, 0, 2, 1]) == NetworkAddress("192.0.2.1"))
        for text in ["192.0.2.1", "255.255.255.255", "::", "2001:db8::1", "::ffff:192.0.2.1"] {
            let address = NetworkAddress(text)
            #expect(address?.description == text)
            #expect(address.flatMap { NetworkAddress(bytes: $0.bytes) } == address, "\(text)")
            #expect(address?.isIPv4 == !text.contains(":"))
        }
        for count in [0, 3, 5, 15, 17] { #expect(NetworkAddress(bytes: [UInt8](repeating: 1, count: count)) == nil) }
    }

    @Test("of IPv4 is another than its form as an IPv6 address, and each is had from the other")
    func mapped() {
        let (four, six) = (NetworkAddress("192.0.2.1"), NetworkAddress("::ffff:192.0.2.1"))
        #expect(four != six && four == six?.unmapped && four?.mapped == six)
        #expect(four?.unmapped == four && six?.mapped == six)
        let other = NetworkAddress("2001:db8::1")
        #expect(other?.unmapped == other && other?.mapped == other)
    }

    @Test(
        "is no text that only some readers take for one",
        arguments: [
            "", "127.1", "127.0.1", "2130706433", "0x7f.0.0.1", "0x7f000001", "0177.0.0.1", "127.0.0.01", "127.0.0.1.",
            "256.0.0.1", "1.2.3", "1.2.3.4.5", " 127.0.0.1", "127.0.0.1\0", "fe80::1%eth0", "::1%lo", "[::1]", ":::",
            "1::2::3", "12345::", "::ffff:127.1", "::ffff:0177.0.0.1", "１.2.3.4", "1.2.3.4/8", "localhost", "1:2:3",
            String(repeating: "1", count: 99),
        ])
    func noAddress(_ text: String) { #expect(NetworkAddress(text) == nil) }
}

@Suite("A block of addresses")
struct AddressBlockTests {
    @Test(
        "holds what begins as it does, and nothing else",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/8", "::a00:1", false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", false), ("0.0.0.0/0", "203.0.113.9", true),
            ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "10.1.1.1", false), ("::/0", "::ffff:10.1.1.1", true),
            ("172.16.0.0/12", "172.31.255.255", true), ("172.16.0.0/12", "172.32.0.0", false),
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("192.0.2.0/31", "192.0.2.1", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
            ("2001:db8::/64", "2001:db8::ffff:0:0:1", true), ("2001:db8::/64", "2001:db8:0:1::", false),
            ("2001:db8::/65", "2001:db8::7fff:0:0:1", true), ("2001:db8::/65", "2001:db8::8000:0:0:1", false),
        ])
    func contents(block: String, address: String, isIn: Bool) throws {
        let block = try #require(AddressBlock(block))
        #expect(block.contains(try #require(NetworkAddress(address))) == isIn)
    }

    @Test(
        "is written as operators write it",
        arguments: ["10.0.0.0/8", "0.0.0.0/0", "192.0.2.1", "::1", "::/0", "fc00::/7", "2001:db8:0:1::/64"])
    func text(text: String) { #expect(AddressBlock(text)?.description == text) }

    @Test(
        "has a length that its kind of addresses has",
        arguments: [
            "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "10/8", "/8", "a/8", "10.0.0.0/0008",
        ])
    func noBlock(text: String) { #expect(AddressBlock(text) == nil && AddressBlock(around: text) == nil) }

    @Test(
        "begins where it says, unless the block around an address is asked for",
        arguments: [
            ("10.1.2.3/8", "10.0.0.0/8"), ("10.1.2.3/0", "0.0.0.0/0"), ("192.0.2.3/31", "192.0.2.2/31"),
            ("2001:db8::1/32", "2001:db8::/32"), ("2001:db8::1/64", "2001:db8::/64"), ("ffff::/1", "8000::/1"),
            ("2001:db8::ffff:0:0:1/65", "2001:db8::8000:0:0:0/65"),
        ])
    func around(text: String, block: String) {
        #expect(AddressBlock(text) == nil)
        #expect(AddressBlock(around: text) == AddressBlock(block) && AddressBlock(block) != nil)
        #expect(AddressBlock(around: block) == AddressBlock(block))
    }
}
