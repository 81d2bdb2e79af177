import NIOCore
import NIOTLS

/// The first handler of a sender's bytes: counts them before anything is kept, and adds the rest of the pipeline only
/// at the first byte. Closes a silent connection.
///
/// A parsed request costs many times its bytes, and one read may bring two thousand. A sender of more than a few
/// before the first answer gets answers to those, and then the connection's end: answering all would make others wait
/// for as long.
final class RequestBytes: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    let connection: OpenConnections.Connection
    private let limits: RequestLimits
    private let limited: @Sendable (HTTPServerObserver.Limit) -> Void
    private let build: (RequestBytes, any Channel) -> Void
    private var hasSpoken = false
    private var silence: Scheduled<Void>?
    private var progress: RequestProgress
    private var isRefusing = false
    /// The bytes held for the arriving request.
    private var held = 0
    /// Whether that one was answered already, before it had arrived whole.
    private var isAnswered = false
    /// The bytes held for requests that wait for their answers, in their order.
    private var waiting = CircularBuffer<Int>()
    /// Whether the sender does not read its answers.
    var isUnread = false {
        didSet { showPhase() }
    }
    /// Behind the decoder; from the first byte on.
    weak var bounds: RequestBounds?

    /// How many requests may wait for their answers. Neither Apple nor nginx sends one before the answer to the last.
    static let mostWaiting = 8

    /// - Parameters:
    ///   - limited: called with the limit that the sender met.
    ///   - build: adds the other handlers behind this one.
    init(
        _ connection: OpenConnections.Connection, _ limits: RequestLimits,
        limited: @escaping @Sendable (HTTPServerObserver.Limit) -> Void,
        build: @escaping (RequestBytes, any Channel) -> Void
    ) {
        self.connection = connection
        self.limits = limits
        self.limited = limited
        self.build = build
        progress = RequestProgress(mostFraming: limits.mostFraming)
    }

    func handlerAdded(context: ChannelHandlerContext) { waitForWords(context) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent where !hasSpoken:
            context.close(promise: nil)
        case let event as TLSUserEvent:
            // A handshake has a deadline of its own.
            if case .handshakeCompleted = event, !hasSpoken { waitForWords(context) }
        default:
            break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefusing else { return }
        if !hasSpoken {
            hasSpoken = true
            silence?.cancel()
            silence = nil
            build(self, context.channel)
        }
        var bytes = unwrapInboundIn(data).compacted(context.channel.allocator)
        while !isRefusing, context.channel.isActive,
            let slice = bytes.readSlice(length: progress.slice(of: bytes.readableBytesView)), slice.readableBytes > 0
        {
            if !progress.isArriving, waiting.count >= Self.mostWaiting {
                limited(.requests)
                bounds?.refuse(.busy)
                return
            }
            guard hold(slice.readableBytes) else {
                limited(.bytes)
                bounds?.refuse(.busy)
                return
            }
            let isFirst = !progress.isArriving
            progress.receive(slice.readableBytes)
            if isFirst { showPhase() }
            context.fireChannelRead(wrapInboundOut(slice))
            if progress.isTooLong {
                limited(.head)
                bounds?.refuse(.tooLong)
            }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        silence?.cancel()
        silence = nil
    }

    /// Whether a request is arriving.
    var isArriving: Bool { progress.isArriving }
    /// Whether a request's head was read, and its end was not.
    var isInBody: Bool { progress.isInBody }

    func readHead(contentLength: Int?, isChunked: Bool) {
        progress.readHead(contentLength: contentLength, isChunked: isChunked)
    }

    func readBody(_ count: Int) { progress.readBody(count) }

    /// A request has come whole.
    func readEnd() {
        progress.readEnd()
        if !isAnswered { waiting.append(held) }
        held = 0
        isAnswered = false
        showPhase()
    }

    /// A request was answered: the first waiting one, or the arriving one.
    func wroteEnd() {
        if let bytes = waiting.popFirst() {
            connection.release(bytes)
        } else {
            connection.release(held)
            held = 0
            isAnswered = true
        }
        showPhase()
    }

    /// Reads nothing more from now on.
    func stopReading(_ context: ChannelHandlerContext) {
        isRefusing = true
        _ = context.channel.setOption(.autoRead, value: false)
    }

    private func waitForWords(_ context: ChannelHandlerContext) {
        silence?.cancel()
        let channel = context.channel
        silence = context.eventLoop.scheduleTask(in: limits.silence) { [limited] in
            limited(.silence)
            channel.close(promise: nil)
        }
    }

    /// Holds received bytes, up to a request's limit: further ones are discarded as they come.
    private func hold(_ count: Int) -> Bool {
        guard !isAnswered else { return true }
        let more = min(count, limits.mostFraming + limits.mostBody - held)
        guard more > 0 else { return true }
        guard connection.hold(more) else { return false }
        held += more
        return true
    }

    private func showPhase() {
        connection.move(
            to: isUnread || waiting.count > 1
                ? .deaf : progress.isArriving ? .arriving : waiting.isEmpty ? .idle : .answering)
    }
}
