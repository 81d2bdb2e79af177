import AsyncHTTPClient
import EvidenceStore
import Foundation
import NIOCore
import NIOHTTP1
import Postgres
import Receiver
import Schema
import ServiceLifecycle
import TestSupport

/// A client that takes no for an answer: the usual one goes on connecting to a port that no server listens on any more until the request's time
/// is up.
let client: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
}()

/// A receiver that listens on a port of its own, and the database behind it.
struct RunningReceiver: Sendable {
    let port: Int
    let database: TestDatabase
    /// A way to the database beside the receiver's own.
    let outbox: Outbox
    let observer: PostgresPool
    let services: ServiceGroup

    /// Posts a body as Apple does.
    func post(
        _ body: String, to path: String = "/webhooks/apple", contentType: String? = "application/json"
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = .POST
        if let contentType { request.headers.add(name: "Content-Type", value: contentType) }
        request.body = .bytes(ByteBuffer(string: body))
        return try await Answer(request)
    }

    /// Any other request, without a body.
    func send(_ method: String, _ path: String) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = HTTPMethod(rawValue: method)
        return try await Answer(request)
    }

    /// The stored JWS, in the order of storing.
    func stored() async throws -> [String] {
        let rows = try await observer.query("select int2send(packing) || body from storehook.outbox order by id")
        return try await SignatureHeaders().open(rows.map { try $0.decode(0) }, observer).compactMap {
            try ($0?.body.get()).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}

/// What a receiver answered.
struct Answer: Sendable {
    let status: Int
    let headers: HTTPHeaders
    let body: String

    init(_ request: HTTPClientRequest) async throws {
        let response = try await client.execute(request, timeout: .seconds(600))
        status = Int(response.status.code)
        headers = response.headers
        body = String(buffer: try await response.body.collect(upTo: 1 << 20))
    }
}

/// The body that Apple posts.
func envelope(_ jws: String) -> String { #"{"signedPayload":"\#(jws)"}"# }

/// Runs a receiver, and ends it gracefully after `body`, whatever becomes of it.
///
/// - Parameters:
///   - url: How the receiver reaches the database, where it is not the short way.
///   - timeout: How long the receiver waits for the database.
func withReceiver<T: Sendable>(
    url: (@Sendable (TestDatabase) async throws -> String)? = nil,
    timeout: Duration = .seconds(30),
    adjusting adjust: (inout ReceiverConfiguration) -> Void = { _ in },
    isolation: isolated (any Actor)? = #isolation,
    _ body: (RunningReceiver) async throws -> T
) async throws -> T {
    try await withMigratedDatabase(Schema.migrations, then: "select storehook.ensure_outbox_partitions()") { database in
        let observer = PostgresPool(configuration: database.configuration, size: 4, logger: quiet)
        var way = database.configuration
        if let url { way = try PostgresConfiguration(url: try await url(database)) }
        way.queryTimeout = timeout
        way.acquireTimeout = timeout
        way.cancelGracePeriod = .milliseconds(500)
        let pool = PostgresPool(configuration: way, size: 2, logger: quiet)

        var configuration = ReceiverConfiguration(host: "127.0.0.1", port: 0)
        adjust(&configuration)
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let receiver = Receiver(outbox: Outbox(pool), configuration: configuration, logger: quiet) {
            listening.yield($0)
        }
        let services = ServiceGroup(services: [pool, receiver], logger: quiet)
        let running = Task { try await services.run() }
        var iterator = ports.makeAsyncIterator()
        guard let port = await iterator.next() else { throw NeverHappened("the receiver listens") }
        let result: Result<T, any Error>
        do {
            result = .success(
                try await body(
                    RunningReceiver(
                        port: port, database: database, outbox: Outbox(observer), observer: observer, services: services
                    )))
        } catch {
            result = .failure(error)
        }
        await services.triggerGracefulShutdown()
        try await running.value
        await observer.close()
        return try result.get()
    }
}
