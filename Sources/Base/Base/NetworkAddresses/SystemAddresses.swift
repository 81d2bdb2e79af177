import Glibc

/// The addresses of a name by the system's resolver, as texts, in the order in which it would have them tried; none where it knows none.
/// A link-local address has its zone.
package func systemAddresses(of name: String) -> [String] {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
    defer { freeaddrinfo(first) }
    var found: [String] = []
    var next = first?.pointee
    while let entry = next {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        if getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 {
            let address = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if !found.contains(address) { found.append(address) }
        }
        next = entry.ai_next?.pointee
    }
    return found
}
