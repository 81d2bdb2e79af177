import Base
import Testing

struct URLTests {
    @Test(
        "a URL is read as it is written",
        arguments: [
            ("https://example.com", "https://example.com/"),
            ("HTTPS://Example.COM:443/Hook?a=b", "https://example.com/Hook?a=b"),
            ("https://example.com:8443?x", "https://example.com:8443/?x"),
            ("https://a-b.x_y.example/p%20q/%E2%82%AC", "https://a-b.x_y.example/p%20q/%E2%82%AC"),
            ("https://8.8.8.8/", "https://8.8.8.8/"),
            ("https://[2606:4700::1111]:444/h", "https://[2606:4700::1111]:444/h"),
            ("https://xn--mnchen-3ya.example/", "https://xn--mnchen-3ya.example/"),
            ("https://0x.example/", "https://0x.example/"), ("https://1.example/", "https://1.example/"),
            ("https://example.com/a@b:c", "https://example.com/a@b:c"),
        ])
    func read(_ text: String, _ written: String) throws {
        #expect(try AddressPolicy().url(text).description == written)
    }

    @Test func `Only https is called unless http is allowed`() throws {
        #expect(throws: AddressRefusal.notHTTPS) { try AddressPolicy().url("http://example.com/") }
        let url = try AddressPolicy(allowsHTTP: true).url("http://example.com/")
        #expect(url.port == 80 && !url.isSecure)
    }

    @Test(
        "an address in a URL is looked at as one that a name resolves to",
        arguments: [
            "https://127.0.0.1/", "https://10.1.2.3:8443/x", "https://169.254.169.254/latest/meta-data",
            "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[fd00:ec2::254]/", "https://[64:ff9b::7f00:1]/",
            "https://0.0.0.0/", "https://100.100.100.200/", "https://localhost/", "https://a.LocalHost:8443/",
        ])
    func special(_ text: String) { #expect(throws: AddressRefusal.self) { try AddressPolicy().url(text) } }

    @Test(
        "numbers that some readers take for an address are refused",
        arguments: [
            "https://2130706433/", "https://0x7f000001/", "https://0x7f.0.0.1/", "https://0177.0.0.1/",
            "https://017700000001/", "https://127.1/", "https://127.0.1/", "https://1.2.3.256/", "https://1.2.3.4.5/",
            "https://example.0x1/", "https://example.1/", "https://0X7F.1/", "https://127.0.0.0x/",
        ])
    func numbers(_ text: String) {
        #expect(throws: AddressRefusal.ambiguousHost) { try AddressPolicy().url(text) }
    }

    @Test(
        "what readers of URLs understand differently is none",
        arguments: [
            "", "example.com", "//example.com", "ftp://example.com/", "file:///etc/passwd", "https:/example.com",
            "https:///path", "https://", "https://:443/", "https://example.com:/", "https://example.com:0/",
            "https://example.com:65536/", "https://example.com:+80/", "https://example.com:8 0/",
            " https://example.com",
            "https://example.com/ ", "https://example.com/a b", "https://exa mple.com/", "https://example.com\\@evil/",
            "https:\\\\example.com/", "https://example.com/\n", "https://example.com/\u{0}", "https://münchen.example/",
            "https://１27.0.0.1/", "https://127。0。0。1/", "https://example.com./", "https://127.0.0.1./",
            "https://example..com/", "https://-a.example/", "https://a-.example/", "https://%31%32%37.0.0.1/",
            "https://[::1", "https://[127.0.0.1]/", "https://[::1]x/", "https://[fe80::1%25eth0]/", "https://[]/",
            "https://a[::1]/", "https://example.com/%", "https://example.com/%2", "https://example.com/%zz",
            "https://example.com/[x]", "https://example.com|evil/", "https://example.com/<script>",
            "https://a.example:443:443/", "java\tscript://example.com",
        ])
    func malformed(_ text: String) {
        #expect(throws: AddressRefusal.malformed) { try AddressPolicy().url(text) }
    }

    @Test func `Users, passwords and fragments are refused by name`() {
        for text in ["https://user@example.com/", "https://user:password@example.com/", "https://a@127.0.0.1:80/"] {
            #expect(throws: AddressRefusal.credentials) { try AddressPolicy().url(text) }
        }
        #expect(throws: AddressRefusal.fragment) { try AddressPolicy().url("https://example.com/#x") }
        #expect(throws: AddressRefusal.fragment) { try AddressPolicy().url("https://example.com#@127.0.0.1/") }
    }

    @Test func `Long URLs and names are refused`() {
        let label = String(repeating: "a", count: 64)
        let name = Array(repeating: String(repeating: "a", count: 50), count: 6).joined(separator: ".")
        for text in [
            "https://\(label).example/", "https://\(name)/",
            "https://example.com/" + String(repeating: "a", count: 2048),
        ] {
            #expect(throws: AddressRefusal.malformed) { try AddressPolicy().url(text) }
        }
    }

    @Test func `Every refusal says in one line what to do`() throws {
        let address = try #require(NetworkAddress("10.0.0.1"))
        let all: [AddressRefusal] = [
            .malformed, .notHTTPS, .credentials, .fragment, .ambiguousHost, .unresolved, .address(address, .private),
            .loopbackName,
        ]
        for refusal in all { #expect(!refusal.description.isEmpty && !refusal.description.contains("\n")) }
        #expect(AddressRefusal.address(address, .private).description.contains("10.0.0.1"))
    }
}
