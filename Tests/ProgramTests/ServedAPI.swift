import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport

/// `storehook serve` as its clients see it.
struct ServedAPI: Sendable {
    struct Answer: Sendable {
        var status: Int
        var retryAfter: Int?
        var body: String

        /// The body's members.
        var object: [String: Any]? { try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] }
    }

    let port: Int

    /// Asks; with a body, posts.
    func send(
        _ path: String, _ headers: [(String, String)] = [], token: String? = nil, body: String? = nil
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body {
            request.method = .POST
            request.body = .bytes(ByteBuffer(string: body))
        }
        let response = try await client.execute(request, timeout: .seconds(300))
        return Answer(
            status: Int(response.status.code),
            retryAfter: response.headers.first(name: "Retry-After").flatMap { Int($0) },
            body: String(buffer: try await response.body.collect(upTo: 4 << 20)))
    }
}
