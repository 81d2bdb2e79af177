import Base
import HTTPTypes
import Hummingbird
public import Logging
import NIOCore
public import ServiceLifecycle

/// The operations port of a program: `/healthz`, `/readyz` and `/metrics`, for probes, scrapers and people, apart from
/// the program's own ports.
public struct OperationsServer: Service {
    private let server: HTTPServer

    /// A server.
    /// - Parameters:
    ///   - port: 0 for any free one.
    ///   - readiness: why the program is not ready; nil if it is. Every request for `/readyz` calls it, so anything
    ///     expensive
    ///     must go through a ``CachedReading``.
    ///   - warning: what the operator should look at although the program is ready; nil for nothing.
    ///   - exposition: makes the page for Prometheus.
    ///   - onListening: called with the port once connections are accepted.
    public init(
        host: String, port: Int, logger: Logger,
        readiness: @escaping @Sendable () async -> String?,
        warning: @escaping @Sendable () -> String? = { nil },
        exposition: @escaping @Sendable () async -> (contentType: String, text: String),
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        var configuration = HTTPServerConfiguration(host: host, port: port)
        configuration.idleTimeout = .seconds(120)
        configuration.stopDeadline = .seconds(5)
        // A few scrapers and a balancer, which send no bodies; more is not needed here.
        configuration.maximumConnections = 64
        configuration.maximumConnectionsPerAddress = 64
        configuration.maximumBodySize = 4096
        let routes = HTTPRoutes(elsewhere: "nothing here but /metrics, /healthz and /readyz")
        routes.serveHealth()
        routes.serve(
            "/readyz",
            [
                .get: { _, _ in
                    if let why = await readiness() { throw HTTPProblem(.serviceUnavailable, why) }
                    guard let warning = warning() else { return Response(status: .ok) }
                    let text = JSONValue.object([.init("warning", .string(warning))]).text
                    return Response(
                        status: .ok, headers: [.contentType: "application/json"],
                        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
                }
            ])
        routes.serve(
            "/metrics",
            [
                .get: { _, _ in
                    let page = await exposition()
                    return Response(
                        status: .ok, headers: [.contentType: page.contentType],
                        body: ResponseBody(byteBuffer: ByteBuffer(string: page.text)))
                }
            ])
        server = HTTPServer(routes.router, configuration: configuration, logger: logger, onListening: onListening)
    }

    /// Serves until graceful shutdown.
    /// - Throws: ``ListenFailure`` where it cannot listen.
    public func run() async throws { try await server.run() }
}
