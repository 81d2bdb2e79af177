import HTTPServing
import HTTPTypes
import Testing

@Suite("An address")
struct NetworkAddressTests {
    @Test("is one value however it is written, and no other text is one")
    func values() {
        #expect(NetworkAddress("192.0.2.1") == NetworkAddress("::ffff:192.0.2.1"))
        #expect(NetworkAddress("2001:db8::1") == NetworkAddress("2001:0db8:0:0:0:0:0:1"))
        #expect(NetworkAddress("192.0.2.1")?.description == "192.0.2.1")
        #expect(NetworkAddress("2001:0db8::0001")?.description == "2001:db8::1")
        for text in [
            "", "192.0.2", "192.0.2.256", "localhost", "1:2:3", " 192.0.2.1", String(repeating: "1", count: 99),
        ] {
            #expect(NetworkAddress(text) == nil, "\(text)")
        }
    }

    @Test("belongs to a party: itself, or the network of 64 bits around it")
    func party() {
        #expect(NetworkAddress("192.0.2.1")?.party == NetworkAddress("192.0.2.1"))
        #expect(NetworkAddress("2001:db8::1")?.party == NetworkAddress("2001:db8::ffff:1")?.party)
        #expect(NetworkAddress("2001:db8::1")?.party != NetworkAddress("2001:db8:0:1::1")?.party)
    }

    @Test(
        "lies in the blocks that hold it and in no other",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/8", "::a00:1", false),
            ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "10.1.1.1", true),
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("192.0.2.0/31", "192.0.2.1", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
            ("2001:db8::/65", "2001:db8::7fff:0:0:1", true), ("2001:db8::/65", "2001:db8::8000:0:0:1", false),
        ])
    func blocks(block: String, address: String, isIn: Bool) throws {
        let block = try #require(AddressBlock(block))
        #expect(block.contains(try #require(NetworkAddress(address))) == isIn)
    }

    @Test("is written as operators write it", arguments: ["10.0.0.0/8", "0.0.0.0/0", "192.0.2.1", "::1", "::/0"])
    func blockText(text: String) { #expect(AddressBlock(text)?.description == text) }

    @Test("is no block with a length that its kind has not", arguments: ["10.0.0.0/33", "10.0.0.0/", "::/129", "10/8"])
    func noBlock(text: String) { #expect(AddressBlock(text) == nil) }
}

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

    @Test("is nobody in particular where a proxy does not say, or says what no address is")
    func unknown() {
        #expect(sender("10.0.0.1") == nil)
        #expect(sender("10.0.0.1", "10.0.0.2") == nil)
        #expect(sender("10.0.0.1", "17.0.0.1, unknown") == nil)
    }
}
