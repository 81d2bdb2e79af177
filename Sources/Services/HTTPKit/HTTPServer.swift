public import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import ServiceLifecycle
import Synchronization

/// Serves the routes of one port, and bounds slow, greedy and lingering senders.
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
    ///   - observer: called with what happens to connections.
    ///   - onListening: called with the port once connections are accepted.
    public init(
        _ router: Router<HTTPContext>, configuration: HTTPServerConfiguration,
        observer: HTTPServerObserver = HTTPServerObserver(), logger: Logger,
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.configuration = configuration
        // Hummingbird logs a line a request; at thousands a second that is noise. A failure to listen is thrown here.
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
                // Where a flood connects faster than connections are accepted, an honest sender's connection beyond
                // this is dropped, and comes again a second later. The kernel has its own bound: net.core.somaxconn,
                // by default 4096.
                backlog: 4096,
                reuseAddress: true,
                // Room for closing connections while others take their place.
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

    /// Serves until graceful shutdown: then it takes no new connections, and answers the current requests.
    /// Cancellation does the same: the failure of another service must not fail a request.
    /// - Throws: ``ListenFailure`` where it cannot listen.
    public func run() async throws {
        let group = ServiceGroup(services: [application], logger: application.logger)
        // In a task of its own: Hummingbird drops its connections when cancelled. A graceful shutdown reaches it all
        // the same.
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
