import Glibc
import Synchronization
import TestSupport

@testable import Postgres

/// Stands between a test and the server, so that the server can seem to go away, come back, or fall silent.
final class Proxy: Sendable {
    private struct State {
        var listener: Int32 = -1
        var sockets: Set<Int32> = []
        var isSilent = false
        var keepsClients = false
        var hangUps = 0
    }

    private let state = Mutex(State())
    private let database: TestDatabase
    let port: UInt16

    /// Begins to accept connections on a port of the system's choice.
    init(to database: TestDatabase) throws {
        self.database = database
        let (listener, port) = try Self.listen(port: 0)
        self.port = port
        accept(on: listener)
    }

    func configuration() throws -> PostgresConfiguration {
        let user = database.configuration.hosts.first?["user"].map { " user=\($0)" } ?? ""
        let password = database.configuration.hosts.first?["password"].map { " password=\($0)" } ?? ""
        return try PostgresConfiguration(
            url: "host=127.0.0.1 port=\(port) dbname=\(database.name) sslmode=disable\(user)\(password)")
    }

    /// As if the server had been shut down: connections end and new ones are refused.
    func stop() {
        state.withLock { state in
            for socket in state.sockets.union([state.listener]) where socket >= 0 {
                _ = shutdown(socket, Int32(SHUT_RDWR))
            }
            state.sockets = []
            state.listener = -1
        }
    }

    /// As if it had been started again, on the same port.
    func start() throws {
        accept(on: try Self.listen(port: port).socket)
    }

    /// As if it had been cut off without a word: whatever is sent, in either direction, is lost from now on.
    func silence() {
        state.withLock { $0.isSilent = true }
    }

    /// From now on, a server that hangs up is noticed here alone; the client's connection stays open.
    func keepClients() {
        state.withLock { $0.keepsClients = true }
    }

    /// How often the server has hung up, after everything that it said before was passed on.
    var hangUps: Int { state.withLock { $0.hangUps } }

    private func accept(on listener: Int32) {
        state.withLock { $0.listener = listener }
        _ = startPthread { [self] in
            while true {
                let client = Glibc.accept(listener, nil, nil)
                guard client >= 0 else { break }
                guard let server = try? connectToServer() else {
                    close(client)
                    continue
                }
                state.withLock { $0.sockets.formUnion([client, server]) }
                _ = startPthread { self.pump(client, server) }
            }
            close(listener)
        }
    }

    /// Carries bytes both ways until one side ends.
    private func pump(_ client: Int32, _ server: Int32) {
        var bytes = [UInt8](repeating: 0, count: 65536)
        var entries = [
            pollfd(fd: client, events: Int16(POLLIN), revents: 0),
            pollfd(fd: server, events: Int16(POLLIN), revents: 0),
        ]
        pumping: while poll(&entries, 2, -1) >= 0 {
            for (index, target) in [(0, server), (1, client)] where entries[index].revents != 0 {
                let count = read(entries[index].fd, &bytes, bytes.count)
                if count <= 0, index == 1 {
                    waitUntilArrived(at: client)
                    let keepsClient = state.withLock { state in
                        state.hangUps += 1
                        return state.keepsClients
                    }
                    // poll(2) passes over negative descriptors.
                    if keepsClient { entries[1].fd = -1 } else { break pumping }
                    continue
                }
                guard count > 0 else { break pumping }
                if state.withLock({ $0.isSilent }) { continue }
                var sent = 0
                while sent < count {
                    let written = bytes.withUnsafeBytes { buffer in
                        send(target, buffer.baseAddress.map { $0 + sent }, count - sent, Int32(MSG_NOSIGNAL))
                    }
                    guard written > 0 else { break pumping }
                    sent += written
                }
            }
        }
        state.withLock { $0.sockets.subtract([client, server]) }
        close(client)
        close(server)
    }

    /// What was sent over the loopback interface arrives by itself, but on a busy machine not at once.
    private func waitUntilArrived(at client: Int32) {
        let end = ContinuousClock.now + .seconds(10)
        var underWay: Int32 = 0
        while ioctl(client, UInt(TIOCOUTQ), &underWay) == 0, underWay > 0, ContinuousClock.now < end { sched_yield() }
    }

    private func connectToServer() throws -> Int32 {
        let parameters = database.configuration.hosts.first ?? [:]
        let port = parameters["port"] ?? "5432"
        let host = parameters["hostaddr"] ?? parameters["host"] ?? "/var/run/postgresql"
        guard host.hasPrefix("/") else {
            return try Self.connectSocket(host: host, port: port)
        }
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: "\(host)/.s.PGSQL.\(port)".utf8.prefix(path.count - 1))
        }
        let failure = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard failure == 0 else { throw ProxyFailure() }
        return socket
    }

    private static func connectSocket(host: String, port: String) throws -> Int32 {
        var found: UnsafeMutablePointer<addrinfo>?
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        guard getaddrinfo(host, port, &hints, &found) == 0, let first = found?.pointee else { throw ProxyFailure() }
        defer { freeaddrinfo(found) }
        let socket = socket(first.ai_family, first.ai_socktype, 0)
        guard connect(socket, first.ai_addr, first.ai_addrlen) == 0 else { throw ProxyFailure() }
        return socket
    }

    private static func listen(port: UInt16) throws -> (socket: Int32, port: UInt16) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let outcome = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard bind(listener, generic, size) == 0, Glibc.listen(listener, 64) == 0 else { return Int32(-1) }
                return getsockname(listener, generic, &size)
            }
        }
        guard outcome == 0 else { throw ProxyFailure() }
        return (listener, UInt16(bigEndian: address.sin_port))
    }
}

/// The proxy could not be set up.
struct ProxyFailure: Error {}
