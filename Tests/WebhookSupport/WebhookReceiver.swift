import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization
package import TestSupport

/// An endpoint that runs while a test does: keeps what was posted and answers as it is told.
package final class WebhookReceiver: Sendable {
    /// One post.
    package struct Post: Sendable {
        /// Method and target.
        package let line: String
        /// Names in lower case.
        package let headers: [String: String]
        /// The body.
        package let body: String
        /// How many came before it.
        package let number: Int
        /// How it was answered; nil where it was not.
        package fileprivate(set) var status: Int?

        /// What the receiver knows the event by.
        package var id: String { headers["webhook-id"] ?? "" }

        /// A member of the body's `data`.
        package func data(_ name: String) -> Any? {
            let body = try? JSONSerialization.jsonObject(with: Data(self.body.utf8)) as? [String: Any]
            return (body?["data"] as? [String: Any])?[name]
        }
    }

    /// What to answer.
    package enum Answer: Sendable {
        /// A status, perhaps with headers.
        case status(Int, [String: String] = [:])
        /// The end of the connection.
        case close
        /// A status after a while.
        case slow(Duration, Int)
        /// Nothing at all.
        case silence
    }

    /// Where it listens.
    package let port: Int
    private let channel: any Channel
    private let log: Log

    fileprivate final class Log: Sendable {
        let posts = Mutex<[Post]>([])
        let connections = Mutex(0)
        let answer: Mutex<@Sendable (Post) -> Answer>

        init(_ answer: @escaping @Sendable (Post) -> Answer) { self.answer = Mutex(answer) }
    }

    private init(_ channel: any Channel, _ log: Log) {
        self.channel = channel
        self.log = log
        port = channel.localAddress?.port ?? 0
    }

    /// Starts one.
    /// - Parameters:
    ///   - certificate: for TLS; without one, none.
    ///   - answer: to a post; 204 by default.
    package static func start(
        _ certificate: ServerCertificate? = nil, host: String = "127.0.0.1", port: Int = 0,
        _ answer: @escaping @Sendable (Post) -> Answer = { _ in .status(204) }
    ) async throws -> WebhookReceiver {
        let tls = try certificate.map { certificate in
            try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: NIOSSLCertificate.fromPEMBytes(Array(certificate.certificate.utf8)).map {
                        .certificate($0)
                    },
                    privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(certificate.key.utf8), format: .pem))))
        }
        let log = Log(answer)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                log.connections.withLock { $0 += 1 }
                return channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(log))
                }
            }
            .bind(host: host, port: port).get()
        return WebhookReceiver(channel, log)
    }

    /// All that was posted so far.
    package var posts: [Post] { log.posts.withLock(\.self) }

    /// How many connections it has accepted so far.
    package var connections: Int { log.connections.withLock(\.self) }

    /// Answers differently from now on.
    package func answer(_ answer: @escaping @Sendable (Post) -> Answer) { log.answer.withLock { $0 = answer } }

    /// Accepts no more connections.
    package func stop() async throws { try await channel.close() }
}

private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let log: WebhookReceiver.Log
    private var head: HTTPRequestHead?
    private var body = ""

    init(_ log: WebhookReceiver.Log) { self.log = log }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = ""
        case .body(let part): body += String(buffer: part)
        case .end:
            guard let head else { return }
            answer(head, context)
        }
    }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let body = body
        let answer = log.answer.withLock(\.self)
        let answered = log.posts.withLock { posts in
            var post = WebhookReceiver.Post(
                line: "\(head.method) \(head.uri)",
                headers: Dictionary(head.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first },
                body: body, number: posts.count, status: nil)
            let answer = answer(post)
            switch answer {
            case .status(let status, _), .slow(_, let status): post.status = status
            case .close, .silence: break
            }
            posts.append(post)
            return answer
        }
        switch answered {
        case .status(let status, let headers): respond(status, headers, context)
        case .close: context.close(promise: nil)
        case .silence: break
        case .slow(let pause, let status):
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: .milliseconds(Int64(pause / .milliseconds(1)))) {
                let (handler, context) = bound.value
                handler.respond(status, [:], context)
            }
        }
    }

    private func respond(_ status: Int, _ headers: [String: String], _ context: ChannelHandlerContext) {
        var fields = HTTPHeaders(headers.map { ($0.key, $0.value) })
        if status != 204 { fields.replaceOrAdd(name: "Content-Length", value: "0") }
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
