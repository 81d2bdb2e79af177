import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// An endpoint that by default answers 204 at once over TLS, and notes when each event came first.
final class DeliveriesReceiver: Sendable {
    /// What it does when it is called.
    enum Conduct: Sendable {
        /// It answers at once.
        case answers
        /// It reads the post, and never answers.
        case hangs
        /// Its port is closed.
        case refuses
    }

    /// What came so far.
    struct Arrivals: Sendable {
        /// When each event came first, by its `webhook-id`.
        var at: [String: ContinuousClock.Instant] = [:]
        /// Each event's `webhook-id`, in the order in which they came first.
        var order: [String] = []
        /// All posts.
        var posts = 0
        /// When the first and the last came.
        var first: ContinuousClock.Instant?
        var last: ContinuousClock.Instant?
    }

    let port: Int
    private let tls: NIOSSLContext
    private let arrivals: Arriving
    private let listening: Mutex<(any Channel)?>

    fileprivate final class Arriving: Sendable {
        let state = Mutex(Arrivals())
        let hangs = Atomic(false)
        let connections = Mutex<[ObjectIdentifier: any Channel]>([:])
    }

    private init(_ channel: any Channel, _ tls: NIOSSLContext, _ arrivals: Arriving) {
        listening = Mutex(channel)
        self.tls = tls
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
        return DeliveriesReceiver(try await listen(0, tls, arriving), tls, arriving)
    }

    private static func listen(_ port: Int, _ tls: NIOSSLContext, _ arriving: Arriving) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                let name = ObjectIdentifier(channel)
                arriving.connections.withLock { $0[name] = channel }
                channel.closeFuture.whenComplete { _ in
                    arriving.connections.withLock { $0[name] = nil }
                }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answering(arriving))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
    }

    /// Does something else from now on. Connections that there are end.
    func turn(_ conduct: Conduct) async throws {
        arrivals.hangs.store(conduct == .hangs, ordering: .sequentiallyConsistent)
        if conduct == .refuses {
            await stop()
        } else if listening.withLock({ $0 == nil }) {
            let channel = try await Self.listen(port, tls, arrivals)
            listening.withLock { $0 = channel }
        }
        for connection in arrivals.connections.withLock({ Array($0.values) }) { try? await connection.close() }
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

    /// How many events came so far.
    var events: Int { arrivals.state.withLock(\.at.count) }

    /// Closes the port.
    func stop() async {
        let channel = listening.withLock { listening in
            defer { listening = nil }
            return listening
        }
        try? await channel?.close()
    }
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
        case .end where arriving.hangs.load(ordering: .relaxed): break
        case .end:
            let now = ContinuousClock.now
            arriving.state.withLock { state in
                state.posts += 1
                if let id, state.at[id] == nil {
                    state.at[id] = now
                    state.order.append(id)
                }
                state.first = state.first ?? now
                state.last = now
            }
            context.write(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .noContent))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
