import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Simulator
import Synchronization

/// A client that takes no for an answer: the usual one goes on connecting to a port that nobody listens on any more until
/// the request's time is up.
let client: HTTPClient = {
    var configuration = HTTPClient.Configuration()
    configuration.connectionPool.retryConnectionEstablishment = false
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
}()

/// Posts texts over a few connections and remembers which were answered 200; a post that gets no answer is not tried
/// again.
final class Sender: Sendable {
    private let left: Mutex<[String]>
    private let accepted = Mutex<[String]>([])
    let port: Int

    init(_ texts: [String], port: Int) {
        left = Mutex(texts.reversed())
        self.port = port
    }

    var answered: [String] { accepted.withLock(\.self) }

    /// Posts until all is posted or nobody answers any more.
    func run(connections: Int = 8) async {
        await withTaskGroup { group in
            for _ in 0..<connections {
                group.addTask {
                    while let text = self.left.withLock({ $0.popLast() }) {
                        var request = HTTPClientRequest(url: "http://127.0.0.1:\(self.port)/webhooks/apple")
                        request.method = .POST
                        request.body = .bytes(ByteBuffer(bytes: UnsignedNotification.postBody(text)))
                        guard let answer = try? await client.execute(request, timeout: .seconds(60))
                        else {
                            continue
                        }
                        if answer.status == .ok { self.accepted.withLock { $0.append(text) } }
                    }
                }
            }
        }
    }
}
