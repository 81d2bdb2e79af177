import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// An endpoint that answers 204 at once over TLS, and notes when each event came first.
final class DeliveriesReceiver: Sendable {
    /// What came so far.
    struct Arrivals: Sendable {
        /// When each event came first, by its `webhook-id`.
        var at: [String: ContinuousClock.Instant] = [:]
        /// All posts.
        var posts = 0
        /// When the first and the last came.
        var first: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
    }

    let port: Int
    private let channel: any Channel
    private let arrivals: Arriving

    fileprivate final class Arriving: Sendable {
        let state = Mutex(Arrivals())
    }

    private init(_ channel: any Channel, _ arrivals: Arriving) {
        self.channel = channel
        self.arrivals = arrivals
        port = channel.localAddress?.port ?? 0
    }

    /// Starts one on the loopback interface.
    /// - Parameters:
    ///   - certificate: the file of its certificate, PEM.
    ///   - key: the file of its key, PEM.
    static func start(certificate: String, key: String) async throws -> DeliveriesReceiver {
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: NIOSSLCertificate.fromPEMFile(certificate).map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(file: key, format: .pem))))
        let arriving = Arriving()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answering(arriving))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return DeliveriesReceiver(channel, arriving)
    }

    /// All that came so far; with `takes`, what comes from now on counts from nothing.
    func read(takes: Bool = false) -> Arrivals {
        arrivals.state.withLock { state in
            defer { if takes { state = Arrivals() } }
            return state
        }
    }

    /// How many posts came so far.
    var posts: Int { arrivals.state.withLock(\.posts) }

    func stop() async { try? await channel.close() }
}

private final class Answering: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let arriving: DeliveriesReceiver.Arriving
    private var id: String?

    init(_ arriving: DeliveriesReceiver.Arriving) { self.arriving = arriving }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): id = head.headers.first(name: "webhook-id")
        case .body: break
        case .end:
            let now = ContinuousClock.now
            arriving.state.withLock { state in
                state.posts += 1
                if let id, state.at[id] == nil { state.at[id] = now }
                state.first = state.first ?? now
                state.last = now
            }
            context.write(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .noContent))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
