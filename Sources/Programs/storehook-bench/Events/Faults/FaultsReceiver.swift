import NIOCore
import NIOHTTP1
import NIOPosix
import Simulation
import Synchronization

/// An endpoint that fails a third of its calls, is slow, and closes connections; it keeps what was posted.
final class FaultsReceiver: Sendable {
    /// An event that was posted.
    struct Post: Sendable {
        /// As it came first.
        var body: String
        /// How often it was posted.
        var calls = 1
        /// How often it was accepted.
        var accepted = 0
        /// Its place among all that was accepted, when that was first; nil while it was not.
        var place: Int?
        /// Whether another body came under the same name.
        var differs = false
    }

    /// All that came.
    struct Log: Sendable {
        /// Events by their `webhook-id`.
        var posts: [String: Post] = [:]
        var calls = 0
        /// Calls that were answered with an error, or with the end of the connection.
        var failed = 0
        var accepted = 0
        fileprivate var random: SeededGenerator
    }

    /// What is done with a call.
    fileprivate enum Answer {
        /// The end of the connection.
        case close
        /// A status after so many milliseconds, and the end of the connection where that is wanted.
        case status(Int, after: Int64, closing: Bool = false)
    }

    let port: Int
    private let channel: any Channel
    private let state: State

    fileprivate final class State: Sendable {
        let log: Mutex<Log>

        init(seed: UInt64) { log = Mutex(Log(random: SeededGenerator(seed: seed))) }

        func take(_ id: String, _ body: String) -> Answer {
            log.withLock { log in
                log.calls += 1
                log.posts[id, default: Post(body: body, calls: 0)].calls += 1
                if log.posts[id]?.body != body { log.posts[id]?.differs = true }
                switch Int.random(in: 0..<90, using: &log.random) {
                case 0..<10: return .close
                case 10..<20: return .status(500, after: 0)
                case 20..<30: return .status(503, after: Int64.random(in: 20...60, using: &log.random))
                case 30..<32: return .status(204, after: 1000)
                case 32..<36: return .status(204, after: 0, closing: true)
                default: return .status(204, after: Int64.random(in: 20...60, using: &log.random))
                }
            }
        }

        /// Notes what came of a call; that is an acceptance only where the caller is still there to hear it.
        func note(_ id: String, isAccepted: Bool) {
            log.withLock { log in
                guard isAccepted else {
                    log.failed += 1
                    return
                }
                log.posts[id]?.accepted += 1
                if log.posts[id]?.place == nil { log.posts[id]?.place = log.accepted }
                log.accepted += 1
            }
        }
    }

    private init(_ channel: any Channel, _ state: State) {
        self.channel = channel
        self.state = state
        port = channel.localAddress?.port ?? 0
    }

    /// Starts one on the loopback interface.
    static func start(seed: UInt64) async throws -> FaultsReceiver {
        let state = State(seed: seed)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answering(state))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return FaultsReceiver(channel, state)
    }

    /// All that came so far.
    var log: Log { state.log.withLock(\.self) }

    /// How many calls were accepted so far.
    var accepted: Int { state.log.withLock(\.accepted) }

    func stop() async { try? await channel.close() }
}

private final class Answering: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let state: FaultsReceiver.State
    private var id = ""
    private var body = ""

    init(_ state: FaultsReceiver.State) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            id = head.headers.first(name: "webhook-id") ?? ""
            body = ""
        case .body(let part): body += String(buffer: part)
        case .end:
            let id = id
            switch state.take(id, body) {
            case .close:
                state.note(id, isAccepted: false)
                context.close(promise: nil)
            case .status(let status, after: 0, let closing): respond(id, status, closing, context)
            case .status(let status, let pause, let closing):
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                context.eventLoop.scheduleTask(in: .milliseconds(pause)) {
                    let (handler, context) = bound.value
                    handler.respond(id, status, closing, context)
                }
            }
        }
    }

    private func respond(_ id: String, _ status: Int, _ closing: Bool, _ context: ChannelHandlerContext) {
        // A worker that was killed meanwhile gets no answer, and sends the event again.
        guard context.channel.isActive else { return state.note(id, isAccepted: false) }
        state.note(id, isAccepted: status == 204)
        var head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status))
        if status != 204 { head.headers.add(name: "Content-Length", value: "0") }
        if closing { head.headers.add(name: "Connection", value: "close") }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let end = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        guard closing else { return }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        end.whenComplete { _ in bound.value.close(promise: nil) }
    }
}
