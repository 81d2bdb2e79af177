public import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import ServiceLifecycle
import Synchronization

/// Serves the routes of one port, and keeps slow, greedy and lingering senders within bounds.
///
/// Every HTTP port of every program is one of these: with TLS if there is an identity, a deadline for each request, a limit
/// of bytes, and an end that no connection can delay for long.
public struct HTTPServer: Service {
    private let application: Application<RouterResponder<HTTPContext>>
    private let configuration: HTTPServerConfiguration
    private let connections: OpenConnections
    private let progress = Progress()

    private final class Progress: Sendable {
        let hasListened = Atomic(false)
    }

    /// A server.
    /// - Parameters:
    ///   - router: what it serves; see ``HTTPRoutes``.
    ///   - observer: told what becomes of connections.
    ///   - onListening: told the port once connections are accepted.
    public init(
        _ router: Router<HTTPContext>, configuration: HTTPServerConfiguration,
        observer: HTTPServerObserver = HTTPServerObserver(), logger: Logger,
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.configuration = configuration
        // Hummingbird logs a line a request; at thousands a second that is noise. Why it does not listen, this throws.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let connections = OpenConnections(
            configuration.connectionLimits, proxies: configuration.trustedProxies,
            stopDeadline: TimeAmount(configuration.stopDeadline), observer: observer)
        self.connections = connections
        let server = HTTPServerBuilder { responder in
            BoundedChannel(
                http: HTTP1Channel(responder: responder), identity: configuration.tls, connections: connections,
                limits: configuration.requestLimits, idleTimeout: configuration.idleTimeout)
        }
        let progress = progress
        application = Application(
            responder: router.buildResponder(),
            server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                serverName: nil,
                // Where strangers connect faster than they are accepted, an honest sender's connection is dropped beyond it,
                // and comes again a second later. The kernel has a bound of its own: net.core.somaxconn, 4096 unless told.
                backlog: 4096,
                reuseAddress: true,
                // Room for those that are closing while others take their place.
                availableConnectionsDelegate: MaximumAvailableConnections(
                    configuration.maximumConnections + configuration.closingConnections)),
            onServerRunning: {
                progress.hasListened.store(true, ordering: .relaxed)
                onListening($0.localAddress?.port ?? configuration.port)
            },
            logger: quiet)
    }

    /// Whether it has begun to accept connections.
    public var hasListened: Bool { progress.hasListened.load(ordering: .relaxed) }

    /// Serves until graceful shutdown: then no new connections, and the requests in hand answered. When it is cancelled, it
    /// does the same: a request has no part in the failure of another service.
    /// - Throws: ``ListenFailure`` where it cannot listen.
    public func run() async throws {
        let group = ServiceGroup(services: [application], logger: application.logger)
        // On its own: Hummingbird drops its connections when it is cancelled. It hears of a graceful shutdown all the same.
        let running = Task { try await group.run() }
        do {
            try await withTaskCancellationHandler {
                try await withGracefulShutdownHandler {
                    try await running.value
                } onGracefulShutdown: {
                    connections.stop()
                }
            } onCancel: {
                connections.stop()
                Task { await group.triggerGracefulShutdown() }
            }
        } catch {
            if hasListened || Task.isCancelled { throw error }
            throw ListenFailure(
                host: configuration.host, port: configuration.port, code: (error as? IOError)?.errnoCode)
        }
    }
}
