package import APIKit
package import AccountStore
package import HTTPKit
package import Logging
import ServiceLifecycle

/// The admin API: what members of the staff ask over HTTP, by token.
package struct AdminAPI: Service {
    private let gate: SchemaGate
    private let watch: DatabaseWatch?
    private let tokens: StaffTokenTable
    private let tries: ForbiddenTries
    private let feed: OverviewFeed?
    private let sessions: (any SessionCheck)?
    private let server: HTTPServer
    private let logger: Logger

    /// An admin API.
    /// - Parameters:
    ///   - endpoints: the endpoints. The description is made of them, and served beside them.
    ///   - feed: sends the overview to those who look on; nil where no endpoint does.
    ///   - watch: notices that the database is silent; nil to do without.
    ///   - gate: opens once the schema has been seen to fit; without one, it was seen already.
    ///   - sessions: finds who asks without a token; nil where there are no pages.
    ///   - pages: what the same port serves beside it.
    ///   - metrics: where it counts requests.
    ///   - onListening: called with the port once connections are accepted.
    package init(
        _ endpoints: [AdminEndpoint], _ staff: StaffMembers, _ tokens: StaffTokenTable, _ tries: ForbiddenTries,
        feed: OverviewFeed? = nil, watch: DatabaseWatch? = nil, gate: SchemaGate? = nil,
        sessions: (any SessionCheck)? = nil, beside pages: OtherRoutes? = nil, configuration: APIConfiguration,
        metrics: APIMetrics, logger: Logger, onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        let gate = gate ?? .open(logger: logger)
        self.gate = gate
        self.watch = watch
        self.tokens = tokens
        self.tries = tries
        self.feed = feed
        self.sessions = sessions
        self.logger = logger
        let router = EndpointRouter(
            endpoints, StaffCheck(staff, tokens, watch, sessions: sessions), gate, watch, configuration,
            describedAt: AdminEndpoint.description, metrics: metrics, logger: logger)
        server = HTTPServer(
            router.router(beside: pages), configuration: configuration.http, observer: metrics.connections,
            logger: logger,
            onListening: onListening)
    }

    /// Why it cannot answer, apart from its database, for people; nil if it can.
    package var whyNotReady: String? {
        server.hasListened ? gate.whyClosed : "the admin API does not listen yet"
    }

    /// Serves until graceful shutdown: then no new connections, and the requests in hand answered.
    /// - Throws: `ListenFailure` where it cannot listen.
    package func run() async throws {
        // Stopped in reverse: the server while there is still what its last requests need.
        var services: [any Service] = [gate, tokens, TryRecorder(tries: tries, logger: logger)]
        if let sessions { services.append(sessions) }
        if let watch { services.append(watch) }
        services.append(server)
        // First of all the streams end: the server waits for them.
        if let feed { services.append(feed) }
        try await ServiceGroup(services: services, logger: logger).run()
    }
}

/// Takes what staff tried and may not do into the audit, as soon as its minute is over.
private struct TryRecorder: Service {
    let tries: ForbiddenTries
    let logger: Logger

    func run() async throws {
        await repeatUntilShutdown(pause: { .seconds(10) }) {
            // What cannot be recorded now stays counted, and the pool reports a database that is away.
            do { try await tries.record() } catch {
                logger.debug("Could not record tries", metadata: ["error": "\(error)"])
            }
        }
    }
}

extension APIEndpoint where Access == AdminAccess {
    /// The path of the description.
    static let description = "/admin/openapi.json"

    /// The endpoints of every admin API: `/healthz`, and the description of all endpoints.
    package static func withStanding(_ endpoints: [AdminEndpoint]) -> [AdminEndpoint] {
        all(
            endpoints, open: .anyone, health: [("/healthz", "getHealthz")], description: description, isPublic: false,
            title: "storehook admin API",
            about:
                "What staff sees and does, by role and on record. Times are RFC 3339 in UTC. Members that are not described may "
                + "come with a later release; bodies with members that are not described are refused. What is sent holds no U+0000, "
                + "which PostgreSQL cannot keep: 400.")
    }
}

extension APIConfiguration {
    /// The bounds of an admin API: a desk's. The longest body is a catalog's file; each path has a limit of its own.
    package static func admin(host: String, port: Int, memory: Int = MemoryLimit.usual) -> APIConfiguration {
        var configuration = APIConfiguration(host: host, port: port, memory: memory)
        configuration.http.maximumBodySize = AdminHandlers.longestCatalog
        return configuration
    }
}
