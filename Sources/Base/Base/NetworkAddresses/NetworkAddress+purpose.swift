extension NetworkAddress {
    /// What an address is for, if not for anybody on the Internet to be called at.
    public enum Purpose: String, Sendable, Hashable, CaseIterable {
        /// This machine.
        case loopback
        /// A private network.
        case `private`
        /// Between a provider and its customers (RFC 6598).
        case shared
        /// The wire that the machine is on; clouds give machines their secrets there.
        case linkLocal = "link-local"
        /// Everybody who listens.
        case multicast
        /// No address, or all of them.
        case unspecified
        /// One machine of a cloud's, which only machines in it reach.
        case cloud = "a cloud's own"
        /// An IPv4 address in another form, or a way to one through a translator.
        case translated
        /// For examples, measurements or protocols, or for nothing yet.
        case reserved

        /// Whether an operator may allow it all the same: what is a place that can be called.
        var mayBeAllowed: Bool {
            switch self {
            case .loopback, .private, .shared, .linkLocal, .cloud, .reserved: true
            case .multicast, .unspecified, .translated: false
            }
        }
    }

    /// What it is for by the registries of special-purpose addresses (IANA, RFC 6890); nil for a public address.
    ///
    /// - IPv6: only addresses in 2000::/3, which are given out to networks, can be public.
    /// - Where DNS64 gives names of IPv4 hosts an address, the IPv4 address within 64:ff9b::/96 decides (RFC 6052).
    /// - A resolver returns a mapped address only where it is asked for one, so all of those are refused.
    public var purpose: Purpose? {
        if let translated = Self.translator, translated.contains(self) {
            return NetworkAddress(bytes: bytes[12...]).map { $0.purpose == nil ? nil : .translated } ?? .translated
        }
        for (network, purpose) in Self.special where network.contains(self) { return purpose }
        return isIPv4 || high >> 61 == 1 ? nil : .reserved
    }

    private static let translator = AddressBlock("64:ff9b::/96")

    /// The first that contains an address says what it is.
    private static let special: [(AddressBlock, Purpose)] = registry.compactMap { text, purpose in
        AddressBlock(text).map { ($0, purpose) }
    }

    static let registry: [(String, Purpose)] = [
        ("0.0.0.0/8", .unspecified), ("10.0.0.0/8", .private), ("100.64.0.0/10", .shared),
        ("127.0.0.0/8", .loopback), ("168.63.129.16/32", .cloud), ("169.254.0.0/16", .linkLocal),
        ("172.16.0.0/12", .private), ("192.0.0.0/24", .reserved), ("192.0.2.0/24", .reserved),
        ("192.31.196.0/24", .reserved), ("192.52.193.0/24", .reserved), ("192.88.99.0/24", .translated),
        ("192.168.0.0/16", .private), ("192.175.48.0/24", .reserved), ("198.18.0.0/15", .reserved),
        ("198.51.100.0/24", .reserved), ("203.0.113.0/24", .reserved), ("224.0.0.0/4", .multicast),
        ("255.255.255.255/32", .unspecified), ("240.0.0.0/4", .reserved),
        ("::/128", .unspecified), ("::1/128", .loopback), ("::ffff:0:0/96", .translated),
        ("::ffff:0:0:0/96", .translated), ("::/96", .translated), ("64:ff9b:1::/48", .translated),
        ("100::/64", .reserved), ("100:0:0:1::/64", .reserved), ("2001::/32", .translated), ("2001::/23", .reserved),
        ("2001:db8::/32", .reserved), ("2002::/16", .translated), ("2620:4f:8000::/48", .reserved),
        ("3fff::/20", .reserved), ("5f00::/16", .reserved), ("fc00::/7", .private), ("fe80::/10", .linkLocal),
        ("fec0::/10", .private), ("ff00::/8", .multicast),
    ]
}
