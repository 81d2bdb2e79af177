import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Posts at a steady rate to two receivers as a proxy before them would: in turn, and to the other one where the first does
/// not answer.
final class UpgradeLoad: Sendable {
    /// The answers since the last reading.
    struct Answers: Sendable {
        /// Posts that were answered 200 in the end.
        var accepted = 0
        /// Posts that were answered 503 first.
        var delayed = 0
        /// Times that a receiver took a connection and did not answer, so that the other one was asked.
        var unanswered = 0
        /// The longest time in seconds from a post's first 503, or first try without an answer, to its 200.
        var longestDelay = 0.0
        /// Posts that neither receiver answered, or answered by something else.
        var failed = 0
    }

    private let posts: PreparedPosts
    private let ports: [Int]
    private let rate: Double
    private let client: HTTPClient
    private struct State {
        var current = Answers()
        var total = 0
        var isStopping = false
    }
    private let state = Mutex(State())

    init(_ posts: PreparedPosts, ports: [Int], rate: Double) {
        self.posts = posts
        self.ports = ports
        self.rate = rate
        var configuration = HTTPClient.Configuration()
        configuration.timeout.connect = .seconds(1)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        // A failed connection is the other receiver's turn.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Posts answered 200 so far.
    var accepted: Int { state.withLock(\.total) }

    /// What was answered since this was called last.
    func answers() -> Answers {
        state.withLock { state in
            defer { state.current = Answers() }
            return state.current
        }
    }

    /// No post is begun from now on.
    func stop() { state.withLock { $0.isStopping = true } }

    /// Posts until it is stopped, or there is nothing left to post, and every post is answered.
    func run() async throws {
        let start = ContinuousClock.now
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<posts.count {
                if state.withLock(\.isStopping) { break }
                let due = start + .seconds(Double(number) / rate)
                if due > .now { try await Task.sleep(until: due) }
                let request = try posts.next()
                group.addTask { await self.post(request, number) }
            }
        }
        try await client.shutdown()
    }

    private func post(_ request: [UInt8], _ number: Int) async {
        var firstRefusal: ContinuousClock.Instant?
        var wasRefused = false
        let end = ContinuousClock.now + .seconds(10)
        var attempt = number
        while ContinuousClock.now < end {
            let status = await status(request, ports[attempt % ports.count])
            if status == 200 {
                let delay = firstRefusal.map { (ContinuousClock.now - $0) / .seconds(1) }
                state.withLock { state in
                    state.current.accepted += 1
                    state.total += 1
                    if wasRefused { state.current.delayed += 1 }
                    if let delay {
                        state.current.longestDelay = max(state.current.longestDelay, delay)
                    }
                }
                return
            }
            guard status == 503 || status == 0 else { break }
            wasRefused = wasRefused || status == 503
            if firstRefusal == nil { firstRefusal = .now }
            attempt += 1
            // Both have had their turn.
            if (attempt - number).isMultiple(of: ports.count) { try? await Task.sleep(for: .milliseconds(50)) }
        }
        state.withLock { $0.current.failed += 1 }
    }

    /// The answer's status; 0 where there was none. A connection that was not to be had is not counted: as before a proxy, it
    /// is the other receiver's turn.
    private func status(_ request: [UInt8], _ port: Int) async -> Int {
        var post = HTTPClientRequest(url: "http://127.0.0.1:\(port)/webhooks/apple")
        post.method = .POST
        post.body = .bytes(ByteBuffer(bytes: LoadRequest.body(of: request)))
        do {
            let answer = try await client.execute(post, timeout: .seconds(8))
            _ = try? await answer.body.collect(upTo: 1 << 16)
            return Int(answer.status.code)
        } catch {
            let isConnecting = error is NIOConnectionError || (error as? HTTPClientError) == .connectTimeout
            if !isConnecting { state.withLock { $0.current.unanswered += 1 } }
            return 0
        }
    }
}
