import Foundation
import Glibc
import Logging
public import Postgres
import Synchronization

/// Stands between a program and a test's database, so that the database can seem to go away, to fall silent, and to come
/// back.
public final class DatabaseProxy: Sendable {
    /// How the database seems.
    private enum Mode { case serving, refusing, silent }

    private struct State {
        var mode = Mode.serving
        var listener: TCPSocket?
        var open: [Int32: TCPSocket] = [:]
    }

    private let state = Mutex(State())
    private let connectToServer: @Sendable () throws -> TCPSocket
    private let onAnswer: @Sendable ([UInt8]) -> Void
    /// The port it listens on, on 127.0.0.1.
    public let port: Int
    /// The database's connection string by way of the proxy.
    public let url: String

    /// Begins to serve on a port of the system's choice.
    /// - Parameter onAnswer: told what the server sends, as it comes, before it is passed on.
    public init(
        to database: TestDatabase, onAnswer: @escaping @Sendable ([UInt8]) -> Void = { _ in }
    ) async throws {
        self.onAnswer = onAnswer
        connectToServer = try await Self.server(of: database)
        let (listener, port) = try TCPSocket.listening(port: 0)
        self.port = port
        // What comes later in a connection string wins, in both of libpq's forms.
        url =
            database.url.contains("://")
            ? "\(database.url)&host=127.0.0.1&hostaddr=127.0.0.1&port=\(port)&sslmode=disable"
            : "\(database.url) host=127.0.0.1 hostaddr=127.0.0.1 port=\(port) sslmode=disable"
        accept(on: listener)
    }

    /// The database by way of the proxy.
    public func configuration() throws -> PostgresConfiguration { try PostgresConfiguration(url: url) }

    /// As if the server had been shut down: connections end and new ones are refused.
    public func refuse() {
        state.withLock { state in
            state.mode = .refusing
            state.listener?.shutDown()
            state.listener = nil
            for socket in state.open.values { socket.shutDown() }
        }
    }

    /// A black hole: connections are accepted and stay, and whatever is sent, in either direction, is never answered.
    public func fallSilent() {
        state.withLock { $0.mode = .silent }
    }

    /// As if the server had been started again, on the same port. Connections that saw the silence end: what was sent
    /// during it is lost.
    public func serve() throws {
        let needsListener = state.withLock { state in
            for socket in state.open.values { socket.shutDown() }
            state.mode = .serving
            return state.listener == nil
        }
        if needsListener { accept(on: try TCPSocket.listening(port: port).socket) }
    }

    private func accept(on listener: TCPSocket) {
        state.withLock { $0.listener = listener }
        Thread.detachNewThread { [self] in
            while let client = listener.accept() {
                guard let server = try? connectToServer() else {
                    client.close()
                    continue
                }
                let isRefused = state.withLock { state in
                    guard state.mode != .refusing else { return true }
                    state.open[client.descriptor] = client
                    state.open[server.descriptor] = server
                    return false
                }
                if isRefused {
                    client.close()
                    server.close()
                } else {
                    Thread.detachNewThread { self.pump(client, server) }
                }
            }
            listener.close()
        }
    }

    /// Carries bytes both ways until one side ends.
    private func pump(_ client: TCPSocket, _ server: TCPSocket) {
        var entries = [client, server].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        pumping: while poll(&entries, 2, -1) >= 0 {
            for (index, source, target) in [(0, client, server), (1, server, client)] where entries[index].revents != 0
            {
                guard let bytes = try? source.receive(), !bytes.isEmpty else { break pumping }
                if state.withLock({ $0.mode == .silent }) { continue }
                if index == 1 { onAnswer(bytes) }
                guard (try? target.send(bytes)) != nil else { break pumping }
            }
        }
        state.withLock { state in
            for socket in [client, server] {
                state.open[socket.descriptor] = nil
                socket.close()
            }
        }
    }

    /// How to reach the database's server, which the server itself knows best.
    private static func server(of database: TestDatabase) async throws -> @Sendable () throws -> TCPSocket {
        var logger = Logger(label: "test-proxy")
        logger.logLevel = .error
        let connection = try await PostgresConnection.connect(to: database.configuration, logger: logger)
        let rows = try await connection.query(
            """
            select inet_server_port()::bigint, split_part(current_setting('unix_socket_directories'), ',', 1),
                   current_setting('port')
            """)
        await connection.close()
        let (tcp, directory, port) = try rows.one().values(Int64?.self, String.self, String.self)
        if let tcp { return { try TCPSocket(port: Int(tcp)) } }
        return { try TCPSocket(path: "\(directory)/.s.PGSQL.\(port)") }
    }
}
