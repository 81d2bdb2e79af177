import HTTPServing
import HTTPTypes
import Hummingbird
public import Logging
public import Metrics
public import Outbox
public import ServiceLifecycle

/// The HTTP face to Apple: stores what is posted, and verifies nothing.
public struct Receiver: Service {
    private let commit: GroupCommit
    private let knownHeaders: KnownHeaders
    private let server: HTTPServer
    private let logger: Logger

    /// A receiver.
    /// - Parameters:
    ///   - metrics: where to count.
    ///   - onListening: told the port once connections are accepted.
    public init(
        outbox: Outbox, configuration: ReceiverConfiguration, logger: Logger,
        metrics factory: any MetricsFactory = MetricsSystem.factory,
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        let metrics = ReceiverMetrics(factory)
        let commit = GroupCommit(limits: configuration.limits, logger: logger) { bodies in
            try await metrics.storing(bodies.count) { try await outbox.store(bodies) }
        }
        self.commit = commit
        knownHeaders = KnownHeaders(outbox: outbox, interval: configuration.headerInterval, logger: logger)
        self.logger = logger
        let apple = AppleRoute(configuration: configuration, commit: commit, metrics: metrics)
        let routes = HTTPRoutes(elsewhere: "nothing here; Apple posts to /webhooks/apple")
        routes.serve("/webhooks/apple", [.post: { request, _ in await apple.answer(request) }])
        routes.serveHealth()
        server = HTTPServer(
            routes.router, configuration: configuration.http, openConnections: metrics.openConnections, logger: logger,
            onListening: onListening)
    }

    /// Why the receiver cannot take what is posted, apart from its database, for people; nil if it can.
    public var whyNotReady: String? {
        if commit.isStopping { return "the receiver is stopping" }
        return server.hasListened ? nil : "the receiver does not listen yet"
    }

    /// Serves until graceful shutdown. Then, in this order: no new connections, the requests in hand answered, what they
    /// brought committed.
    /// - Throws: `ListenFailure` where it cannot listen.
    public func run() async throws {
        // Stopped in reverse: the server while commits still work, and the commits when nobody can add to them.
        try await ServiceGroup(services: [knownHeaders, commit, server], logger: logger).run()
    }
}
