import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Simulation
import Synchronization

/// A client that takes no for an answer: the usual one goes on connecting to a port that no server listens on any more until the request's time
/// is up.
let client: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
}()

/// Posts texts over a few connections and remembers which were answered 200; a post that gets no answer is not tried
/// again.
final class Sender: Sendable {
    private let source: @Sendable (Int) -> String?
    /// Where there is no end of texts, the receiver ends it by no longer answering, or ``stop()`` does.
    private let isEndless: Bool
    private let taken = Atomic(0)
    private let isStopped = Atomic(false)
    private let accepted = Mutex<[String]>([])
    let port: Int

    init(_ texts: [String], port: Int) {
        source = { $0 < texts.count ? texts[$0] : nil }
        isEndless = false
        self.port = port
    }

    /// Posts without end, so that whatever befalls the receiver befalls it in the middle of posts.
    /// - Parameter text: the text of each number, from 0.
    init(endless text: @escaping @Sendable (Int) -> String, port: Int) {
        source = text
        isEndless = true
        self.port = port
    }

    /// Says that no more are to be posted.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    private func next() -> String? {
        if isStopped.load(ordering: .relaxed) { return nil }
        return source(taken.add(1, ordering: .relaxed).oldValue)
    }

    var answered: [String] { accepted.withLock(\.self) }

    /// Posts until all is posted or the receiver no longer answers.
    func run(connections: Int = 8) async {
        await withTaskGroup { group in
            for _ in 0..<connections {
                group.addTask {
                    while let text = self.next() {
                        var request = HTTPClientRequest(url: "http://127.0.0.1:\(self.port)/webhooks/apple")
                        request.method = .POST
                        request.body = .bytes(ByteBuffer(bytes: UnsignedNotification.postBody(text)))
                        guard let answer = try? await client.execute(request, timeout: .seconds(60))
                        else {
                            if self.isEndless { return }
                            continue
                        }
                        if answer.status == .ok { self.accepted.withLock { $0.append(text) } }
                    }
                }
            }
        }
    }
}
