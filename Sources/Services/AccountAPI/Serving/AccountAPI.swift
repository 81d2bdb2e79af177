package import APIKit
import AppStoreVerification
import AppleRecords
import EventStore
package import HTTPKit
import HTTPTypes
package import Logging
import ServiceLifecycle

/// The account API: what apps and their backends ask over HTTP.
package struct AccountAPI: Service {
    private let gate: SchemaGate
    private let watch: DatabaseWatch?
    private let tokenKeys: TokenKeys
    private let serverKeys: ServerKeyTable
    private let ids: AccountIDTable
    private let server: HTTPServer
    private let logger: Logger

    /// An account API.
    /// - Parameters:
    ///   - endpoints: what it serves, beside `/openapi.json`, which is made of them.
    ///   - tokenKeys: the keys of app tokens; read while this runs.
    ///   - check: checks tokens by them.
    ///   - serverKeys: the keys of the operator's servers; read while this runs.
    ///   - ids: the rule of account ids; read while this runs.
    ///   - watch: notices that the database is silent; nil to do without.
    ///   - gate: opens once the schema has been seen to fit; without one, it was seen already.
    ///   - metrics: where it counts requests.
    ///   - callerMetrics: where it counts tokens that are not accepted.
    ///   - onListening: called with the port once connections are accepted.
    package init(
        _ endpoints: [AccountEndpoint], tokenKeys: TokenKeys, check: TokenCheck, serverKeys: ServerKeyTable,
        ids: AccountIDTable, watch: DatabaseWatch? = nil, gate: SchemaGate? = nil, configuration: APIConfiguration,
        metrics: APIMetrics, callerMetrics: CallerMetrics, logger: Logger,
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        let gate = gate ?? .open(logger: logger)
        self.gate = gate
        self.watch = watch
        self.tokenKeys = tokenKeys
        self.serverKeys = serverKeys
        self.ids = ids
        self.logger = logger
        let router = EndpointRouter(
            endpoints, CallerCheck(check, serverKeys, ids, callerMetrics), gate, watch, configuration, metrics: metrics,
            logger: logger)
        server = HTTPServer(
            router.router(), configuration: configuration.http, observer: metrics.connections, logger: logger,
            onListening: onListening)
    }

    /// Why it cannot answer, apart from its database, for people; nil if it can.
    package var whyNotReady: String? {
        guard server.hasListened else { return "the account API does not listen yet" }
        return gate.whyClosed ?? ids.whyNone ?? tokenKeys.whyNone
    }

    /// What the operator should look at although it answers.
    package var warning: String? { tokenKeys.warning }

    /// Serves until graceful shutdown: then no new connections, and the requests in hand answered.
    /// - Throws: `ListenFailure` where it cannot listen.
    package func run() async throws {
        // Stopped in reverse: the server while there is still what its last requests need.
        let watches: [any Service] = watch.map { [$0] } ?? []
        try await ServiceGroup(services: [gate, tokenKeys, serverKeys, ids] + watches + [server], logger: logger).run()
    }
}
