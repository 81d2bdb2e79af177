package import Base
import Glibc
import NIOPosix
import Synchronization

/// Resolves names to addresses.
package protocol AddressResolver: Sendable {
    /// All addresses of a name, the preferred one first; none where it has none.
    func addresses(of name: String) async -> [NetworkAddress]
}

/// The system's resolver: files, DNS, whatever this machine uses.
package final class SystemResolver: AddressResolver {
    private let threads: NIOThreadPool
    /// For names that did not resolve the last time: however many of these wait for unreachable servers, other names
    /// do not wait for them.
    private let doubtfulThreads: NIOThreadPool
    private let doubtful = Mutex<Set<String>>([])
    private let lookUp: @Sendable (String) -> [NetworkAddress]

    /// How many names are remembered as doubtful; beyond that all are forgotten.
    private static let most = 1000

    /// A resolver with threads of its own: a look-up that waits for an unreachable server occupies one.
    package convenience init(threads count: Int = 8) {
        self.init(threads: count) { Self.look(up: $0) }
    }

    init(threads count: Int, lookUp: @escaping @Sendable (String) -> [NetworkAddress]) {
        self.lookUp = lookUp
        threads = NIOThreadPool(numberOfThreads: count)
        doubtfulThreads = NIOThreadPool(numberOfThreads: max(1, count / 2))
        threads.start()
        doubtfulThreads.start()
    }

    /// Ends its threads.
    package func shutdown() async {
        try? await threads.shutdownGracefully()
        try? await doubtfulThreads.shutdownGracefully()
    }

    /// All addresses of a name.
    package func addresses(of name: String) async -> [NetworkAddress] {
        let pool = doubtful.withLock { $0.contains(name) } ? doubtfulThreads : threads
        let found = (try? await pool.runIfActive { [lookUp] in lookUp(name) }) ?? []
        doubtful.withLock { doubtful in
            if !found.isEmpty {
                doubtful.remove(name)
            } else {
                if doubtful.count >= Self.most { doubtful = [] }
                doubtful.insert(name)
            }
        }
        return found
    }

    private static func look(up name: String) -> [NetworkAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        var found: [NetworkAddress] = []
        var next = first
        while let entry = next {
            if let address = address(entry.pointee), !found.contains(address) { found.append(address) }
            next = entry.pointee.ai_next
        }
        return found
    }

    private static func address(_ entry: addrinfo) -> NetworkAddress? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        // Without the zone of a link-local address: that address must not be missing among those that are checked.
        let bytes = text.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: "%")) }.map(UInt8.init(bitPattern:))
        return NetworkAddress(String(decoding: bytes, as: UTF8.self))
    }
}
