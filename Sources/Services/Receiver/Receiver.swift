public import EvidenceStore
public import HTTPKit
import HTTPTypes
import Hummingbird
public import Logging
public import Metrics
public import ServiceLifecycle

/// The HTTP face to Apple: stores what is posted, and verifies nothing.
public struct Receiver: Service {
    private let commit: GroupCommit
    private let headers: Refresher<Void>
    private let gate: SchemaGate
    private let refused: RefusedSenders
    private let oldPosts: OldPosts
    private let server: HTTPServer
    private let logger: Logger

    /// A receiver.
    /// - Parameters:
    ///   - gate: opens once the schema has been seen to fit; without one, it was seen already.
    ///   - metrics: where to count.
    ///   - onListening: called with the port once connections are accepted.
    public init(
        outbox: Outbox, gate: SchemaGate? = nil, configuration: ReceiverConfiguration, logger: Logger,
        metrics factory: any MetricsFactory = MetricsSystem.factory,
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        let metrics = ReceiverMetrics(factory)
        let gate = gate ?? .open(logger: logger)
        self.gate = gate
        let commit = GroupCommit(limits: configuration.limits, logger: logger) { bodies, senders in
            try await gate.pass()
            try await metrics.storing(bodies.count) { try await outbox.store(bodies, from: senders) }
        }
        self.commit = commit
        headers = knownHeaders(of: outbox, every: configuration.headerInterval, logger: logger)
        self.logger = logger
        refused = RefusedSenders(outbox: outbox, interval: configuration.refusalInterval, logger: logger)
        oldPosts = OldPosts(every: configuration.oldPostInterval, logger: logger) {
            try await outbox.noteOldPost()
        }
        let apple = AppleRoute(
            configuration: configuration, commit: commit, refused: refused, oldPosts: oldPosts, metrics: metrics)
        let routes = HTTPRoutes(elsewhere: "nothing here; Apple posts to /webhooks/apple")
        for path in configuration.paths {
            routes.serve(
                RouterPath(path), [.post: { request, context in await apple.answer(request, from: context.peer) }])
        }
        routes.serveHealth()
        server = HTTPServer(
            routes.router, configuration: configuration.http, observer: metrics.connections, logger: logger,
            onListening: onListening)
    }

    /// Why the receiver cannot take what is posted, apart from its database, for people; nil if it can.
    public var whyNotReady: String? {
        if commit.isStopping { return "the receiver is stopping" }
        return server.hasListened ? gate.whyClosed : "the receiver does not listen yet"
    }

    /// Serves until graceful shutdown. Then, in this order: no new connections, the requests in hand answered, what they
    /// brought committed.
    /// - Throws: `ListenFailure` where it cannot listen.
    public func run() async throws {
        // Stopped in reverse: the server while commits still work, and the commits when no request can add to them.
        try await ServiceGroup(services: [gate, headers, refused, oldPosts, commit, server], logger: logger).run()
    }
}
