import Foundation

@testable import StorehookClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server in this process: answers requests in turn, and keeps them.
final class ScriptedTransport: HTTPTransport, @unchecked Sendable {
    // Guarded by the lock.
    private let lock = NSLock()
    private var answers: [Answer]
    private var kept: [URLRequest] = []

    struct Answer {
        var status = 200
        var body = "{}"
        var headers: [String: String] = [:]
    }

    init(_ answers: [Answer]) { self.answers = answers }

    /// What was asked, in order.
    var requests: [URLRequest] { lock.withLock { kept } }

    func send(_ request: URLRequest) async throws -> (Data, HTTPURLResponse) {
        let answer: Answer? = lock.withLock {
            kept.append(request)
            return answers.isEmpty ? nil : answers.removeFirst()
        }
        guard let answer, let url = request.url,
            let head = HTTPURLResponse(
                url: url, statusCode: answer.status, httpVersion: "HTTP/1.1", headerFields: answer.headers)
        else { throw URLError(.cannotConnectToHost) }
        return (Data(answer.body.utf8), head)
    }
}
