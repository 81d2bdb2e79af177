import Hummingbird
import HummingbirdCore
public import Logging
public import Metrics
import NIOCore
public import Outbox
public import ServiceLifecycle

/// The HTTP face to Apple: stores what is posted, and verifies nothing.
public struct Receiver: Service {
    /// Makes the page for Prometheus.
    public typealias Exposition = @Sendable () async -> (contentType: String, text: String)

    private let commit: GroupCommit
    private let knownHeaders: KnownHeaders
    private let application: Application<ReceiverResponder>
    private let connections: OpenConnections
    private let logger: Logger

    /// A receiver.
    /// - Parameters:
    ///   - metrics: where to count.
    ///   - onListening: told the port once connections are accepted.
    ///   - exposition: the page for Prometheus, which `/metrics` answers.
    public init(
        outbox: Outbox, configuration: ReceiverConfiguration, logger: Logger,
        metrics factory: any MetricsFactory = MetricsSystem.factory,
        onListening: @escaping @Sendable (Int) -> Void = { _ in },
        exposition: @escaping Exposition = { ("text/plain; charset=utf-8", "") }
    ) {
        let metrics = ReceiverMetrics(factory)
        let commit = GroupCommit(limits: configuration.limits, logger: logger) { bodies in
            try await metrics.storing(bodies.count) { try await outbox.store(bodies) }
        }
        self.commit = commit
        knownHeaders = KnownHeaders(outbox: outbox, interval: configuration.headerInterval, logger: logger)
        self.logger = logger
        // Hummingbird logs a line a request; at thousands a second that is noise.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        let connections = OpenConnections(stopDeadline: TimeAmount(configuration.stopDeadline), metrics: metrics)
        self.connections = connections
        let http = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                RequestDeadline(
                    TimeAmount(configuration.requestDeadline), mostBytes: 4 * configuration.maximumBodySize),
                ConnectionRegistration(connections),
            ],
            idleTimeout: TimeAmount(configuration.idleTimeout))
        let deadline = TimeAmount(configuration.requestDeadline)
        let server: HTTPServerBuilder =
            configuration.tls.map { identity in
                HTTPServerBuilder { responder in
                    TLSChannel(
                        identity: identity, http: HTTP1Channel(responder: responder, configuration: http),
                        handshakeDeadline: deadline)
                }
            } ?? .http1(configuration: http)
        application = Application(
            responder: ReceiverResponder(
                configuration: configuration, commit: commit, ping: { try await outbox.ping() }, metrics: metrics,
                exposition: exposition),
            server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                serverName: nil,
                backlog: 1024,
                reuseAddress: true,
                availableConnectionsDelegate: MaximumAvailableConnections(configuration.maximumConnections)),
            onServerRunning: { onListening($0.localAddress?.port ?? configuration.port) },
            logger: quiet)
    }

    /// Serves until graceful shutdown. Then, in this order: no new connections, the requests in hand answered, what they
    /// brought committed.
    public func run() async throws {
        // Stopped in reverse: the server while commits still work, and the commits when nobody can add to them.
        let services = ServiceGroup(services: [knownHeaders, commit, application], logger: logger)
        try await withGracefulShutdownHandler {
            try await services.run()
        } onGracefulShutdown: {
            connections.stop()
        }
    }
}
