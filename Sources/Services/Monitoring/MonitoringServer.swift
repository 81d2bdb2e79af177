import HTTPTypes
import Hummingbird
import HummingbirdCore
public import Logging
import NIOCore
public import ServiceLifecycle

/// Serves `/metrics`, `/healthz` and `/readyz` for a program that has no HTTP server of its own.
public struct MonitoringServer: Service {
    private let application: Application<MonitoringResponder>

    /// A server.
    /// - Parameters:
    ///   - port: 0 for any free one.
    ///   - readiness: why the program is not ready; nil if it is.
    ///   - onListening: told the port once connections are accepted.
    public init(
        host: String, port: Int, monitor: Monitor, logger: Logger,
        readiness: @escaping @Sendable () async -> String?,
        onListening: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        // Hummingbird logs a line a request.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        application = Application(
            responder: MonitoringResponder(monitor: monitor, readiness: readiness),
            server: .http1(configuration: HTTP1Channel.Configuration(idleTimeout: .seconds(120))),
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: nil, reuseAddress: true,
                // A few scrapers and a balancer; whoever opens more has a reason that is none of ours.
                availableConnectionsDelegate: MaximumAvailableConnections(64)),
            onServerRunning: { onListening($0.localAddress?.port ?? port) },
            logger: quiet)
    }

    /// Serves until graceful shutdown.
    public func run() async throws { try await application.run() }
}

/// The answers, path by path.
struct MonitoringResponder: HTTPResponder {
    typealias Context = BasicRequestContext

    let monitor: Monitor
    let readiness: @Sendable () async -> String?

    func respond(to request: Request, context: BasicRequestContext) async throws -> Response {
        guard ["/metrics", "/healthz", "/readyz"].contains(request.uri.path) else {
            return text(.notFound, "nothing here but /metrics, /healthz and /readyz\n")
        }
        guard request.method == .get || request.method == .head else {
            return text(.methodNotAllowed, "GET only\n", [.allow: "GET, HEAD"])
        }
        switch request.uri.path {
        case "/metrics":
            let page = await monitor.exposition()
            return text(.ok, page.text, [.contentType: page.contentType])
        case "/readyz":
            if let why = await readiness() { return text(.serviceUnavailable, why + "\n") }
            return Response(status: .ok)
        default:
            return Response(status: .ok)
        }
    }

    private func text(_ status: HTTPResponse.Status, _ text: String, _ headers: HTTPFields = [:]) -> Response {
        var headers = headers
        if headers[.contentType] == nil { headers[.contentType] = "text/plain; charset=utf-8" }
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
