package import Base
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
        // Without the zone of a link-local address: that address must not be missing among those that are checked.
        systemAddresses(of: name).compactMap { NetworkAddress($0.prefix { $0 != "%" }) }
    }
}
