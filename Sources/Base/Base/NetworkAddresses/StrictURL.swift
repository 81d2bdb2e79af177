/// A URL that others have entered, to be called.
///
/// Only what all readers of URLs understand alike is one: what is checked here is then what an HTTP client calls. So there is no white
/// space, no backslash, no character beyond ASCII, no user and no fragment, and a host is a name, four decimal numbers, or an IPv6
/// address in brackets.
public struct StrictURL: Sendable, Hashable, CustomStringConvertible {
    /// The host to connect to.
    public enum Host: Sendable, Hashable {
        /// A name to be resolved, in lower case.
        case name(String)
        /// An address.
        case address(NetworkAddress)
    }

    /// Whether it is https.
    public let isSecure: Bool
    /// The host to connect to.
    public let host: Host
    /// Where; 443 or 80 unless the URL says so.
    public let port: Int
    /// Path and query, at least `/`.
    public let target: String

    /// The longest that is taken, in characters.
    public static let maximumLength = 2048

    /// Reads a URL of http or https. Whether it may be called ``AddressPolicy`` says.
    public init(_ text: String) throws(AddressRefusal) {
        guard text.utf8.count <= Self.maximumLength, text.utf8.allSatisfy(Self.isOfURL) else { throw .malformed }
        guard let colon = text.firstRange(of: "://") else { throw .malformed }
        switch text[..<colon.lowerBound].lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: throw .malformed
        }
        let rest = text[colon.upperBound...]
        guard !rest.contains("#") else { throw .fragment }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else { throw .credentials }
        let target = rest[end...]
        guard Self.isWellEscaped(target) else { throw .malformed }
        self.target = target.hasPrefix("/") ? String(target) : "/" + target
        let (name, number) = try Self.parts(authority)
        host = try Self.host(name)
        guard let number else {
            port = isSecure ? 443 : 80
            return
        }
        guard (1...5).contains(number.utf8.count), number.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(number), (1...65_535).contains(port)
        else { throw .malformed }
        self.port = port
    }

    /// Host and port as they are written.
    private static func parts(_ authority: Substring) throws(AddressRefusal) -> (Substring, port: Substring?) {
        if authority.hasPrefix("[") {
            guard let close = authority.firstIndex(of: "]") else { throw .malformed }
            let after = authority[authority.index(after: close)...]
            guard after.isEmpty || after.hasPrefix(":") else { throw .malformed }
            return (authority[...close], after.isEmpty ? nil : after.dropFirst())
        }
        guard let colon = authority.firstIndex(of: ":") else { return (authority, nil) }
        return (authority[..<colon], authority[authority.index(after: colon)...])
    }

    private static func host(_ text: Substring) throws(AddressRefusal) -> Host {
        if text.hasPrefix("[") {
            guard let address = NetworkAddress(text.dropFirst().dropLast()), !address.isIPv4 else { throw .malformed }
            return .address(address)
        }
        if let address = NetworkAddress(text), address.isIPv4 { return .address(address) }
        let name = text.lowercased()
        // One full stop at the end is the root's: some readers drop it, and the certificate's name has none.
        guard (1...253).contains(name.utf8.count), !name.hasSuffix(".") else { throw .malformed }
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for label in labels {
            guard (1...63).contains(label.count), label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-"),
                label.allSatisfy({ isOfName($0) })
            else { throw .malformed }
        }
        // What ends in a number is an IPv4 address to browsers and to inet_aton, whatever stands before it.
        if let last = labels.last, isNumber(Array(last)) { throw .ambiguousHost }
        return .name(name)
    }

    private static func isNumber(_ label: [UInt8]) -> Bool {
        if label.allSatisfy({ (0x30...0x39).contains($0) }) { return true }
        guard label.starts(with: "0x".utf8) else { return false }
        return label.dropFirst(2).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_")
    }

    /// The characters of RFC 3986, and none that some readers mend.
    private static func isOfURL(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~:/?#[]@!$&'()*+,;=%".utf8.contains(byte)
        }
    }

    /// Whether each `%` stands before two hexadecimal digits, and brackets stand in no path.
    private static func isWellEscaped(_ text: Substring) -> Bool {
        let bytes = Array(text.utf8)
        for (place, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") { return false }
            guard byte == UInt8(ascii: "%") else { continue }
            guard place + 2 < bytes.count, bytes[place + 1...place + 2].allSatisfy(isHexadecimal) else { return false }
        }
        return true
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }

    /// The URL, written in one way.
    public var description: String {
        let name =
            switch host {
            case .name(let name): name
            case .address(let address): address.isIPv4 ? "\(address)" : "[\(address)]"
            }
        let number = port == (isSecure ? 443 : 80) ? "" : ":\(port)"
        return "\(isSecure ? "https" : "http")://\(name)\(number)\(target)"
    }
}
