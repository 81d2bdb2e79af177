import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import TestSupport

/// What a server answered.
struct Answer: Sendable {
    var status: UInt
    var headers: HTTPHeaders
    var body: String
}

/// Runs what `make` makes, given what it must tell its port, while `body` sends requests to it.
func withServer(
    _ make: (@escaping @Sendable (Int) -> Void) -> any Service, isolation: isolated (any Actor)? = #isolation,
    _ body: (@escaping @Sendable (_ method: HTTPMethod, _ path: String) async throws -> Answer) async throws -> Void
) async throws {
    let (ports, listening) = AsyncStream.makeStream(of: Int.self)
    let services = ServiceGroup(services: [make { listening.yield($0) }], logger: quiet)
    let running = Task { try await services.run() }
    var iterator = ports.makeAsyncIterator()
    guard let port = await iterator.next() else { throw NeverHappened("the server listens") }
    let result: Result<Void, any Error>
    do {
        result = .success(
            try await body { method, path in
                var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
                request.method = method
                let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
                return Answer(
                    status: response.status.code, headers: response.headers,
                    body: String(buffer: try await response.body.collect(upTo: 1 << 20)))
            })
    } catch {
        result = .failure(error)
    }
    await services.triggerGracefulShutdown()
    try await running.value
    try result.get()
}
