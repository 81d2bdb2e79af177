/// Why a URL is not called.
public enum AddressRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The URL is none that all readers understand alike.
    case malformed
    /// Not https, and http is not allowed.
    case notHTTPS
    /// A user's name or a password in it: signatures say who calls.
    case credentials
    /// The part after `#`, which is never sent.
    case fragment
    /// A host that some readers take for a number: decimal, octal, hexadecimal or short.
    case ambiguousHost
    /// The name resolves to nothing.
    case unresolved
    /// An address that is not for anybody on the Internet to be called at.
    case address(NetworkAddress, NetworkAddress.Purpose)
    /// A name that means this machine.
    case loopbackName

    /// What it is, and what to do.
    public var description: String {
        switch self {
        case .malformed:
            "not a URL that can be called; write it as https://host/path, names in ASCII, other characters as %XX"
        case .notHTTPS: "only https is called; give the endpoint a certificate, or allow http by the setting"
        case .credentials: "no user or password in the URL; check the signature instead"
        case .fragment: "no # in the URL; it would never be sent"
        case .ambiguousHost: "the host is a number written in another way; write a name, or four decimal numbers"
        case .unresolved: "the name resolves to no address"
        case .address(let address, let purpose):
            "\(address) is not public (\(purpose.rawValue)); use a public address, or allow its network by the setting"
        case .loopbackName: "the name means this machine; use a public name, or allow its network by the setting"
        }
    }
}
