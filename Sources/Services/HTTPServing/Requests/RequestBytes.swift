import NIOCore
import NIOTLS

/// The first to see what a sender says: counts it before anything is kept of it, and stands the rest of the pipeline up only
/// when somebody says something at all. Closes a connection that says nothing.
///
/// A parsed request costs many times its bytes. So of requests that come faster than they are answered only a few go on to the
/// decoder; the others stay the bytes that they are, and no more are read, until an answer was written.
final class RequestBytes: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    let connection: OpenConnections.Connection
    private let limits: RequestLimits
    private let limited: @Sendable (HTTPServerObserver.Limit) -> Void
    private let build: (RequestBytes, any Channel) -> Void
    private var context: ChannelHandlerContext?
    private var hasSpoken = false
    private var silence: Scheduled<Void>?
    private var progress: RequestProgress
    private var isRefusing = false
    /// What has come and was not given to the decoder: nothing, unless as many requests wait as may. All of it is held.
    private var rest = ByteBuffer()
    /// What is held for the request that is on its way, of what the decoder was given.
    private var held = 0
    /// Whether that one was answered already, before it came whole.
    private var isAnswered = false
    /// What is held for those that wait for their answers, in their order.
    private var waiting = CircularBuffer<Int>()
    /// The decoder was given something, and was not told yet that this is all for now.
    private var owesReadComplete = false
    /// More was asked for while there was a rest.
    private var owesRead = false
    /// The sender's end came while there was a rest.
    private var owesEnd = false
    /// Whether answers pile up that the sender does not read.
    var isUnread = false {
        didSet { showPhase() }
    }
    /// Behind the decoder; from the first byte on.
    weak var bounds: RequestBounds?

    /// How many requests may wait for their answers before those behind them wait to be parsed. Neither Apple nor nginx sends
    /// a second one before the first was answered.
    static let mostWaiting = 8

    /// - Parameters:
    ///   - limited: told what bounded the sender.
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

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        waitForWords(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ChannelShouldQuiesceEvent where !hasSpoken:
            context.close(promise: nil)
        case let event as TLSUserEvent:
            // A handshake has a deadline of its own.
            if case .handshakeCompleted = event, !hasSpoken { waitForWords(context) }
        case ChannelEvent.inputClosed where rest.readableBytes > 0:
            owesEnd = true
            return
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
        let bytes = unwrapInboundIn(data)
        guard connection.hold(bytes.readableBytes) else {
            limited(.bytes)
            bounds?.refuse(.busy)
            return
        }
        if rest.readableBytes == 0 { rest = bytes } else { rest.writeImmutableBuffer(bytes) }
        rest = rest.compacted(context.channel.allocator)
        feed(context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // To those behind, nothing has come then.
        guard owesReadComplete else { return }
        owesReadComplete = false
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if rest.readableBytes > 0 { owesRead = true } else { context.read() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        silence?.cancel()
        silence = nil
    }

    /// Whether a request is on its way.
    var isArriving: Bool { progress.isArriving }
    /// Whether a request's head was read, and not yet its end.
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

    /// A request was answered: the first of those that wait, or the one that is on its way.
    func wroteEnd() {
        if let bytes = waiting.popFirst() {
            connection.release(bytes)
        } else {
            connection.release(held)
            held = 0
            isAnswered = true
        }
        showPhase()
        // Not now: who writes does not expect to be given something to read before he has done.
        if rest.readableBytes > 0 { context?.eventLoop.assumeIsolated().execute { self.goOn() } }
    }

    /// Nothing that comes from now on is read.
    func stopReading(_ context: ChannelHandlerContext) {
        isRefusing = true
        connection.release(rest.readableBytes)
        rest = ByteBuffer()
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

    /// Gives the decoder what has come, as far as may wait.
    private func feed(_ context: ChannelHandlerContext) {
        while !isRefusing, context.channel.isActive, waiting.count < Self.mostWaiting, rest.readableBytes > 0,
            let slice = rest.readSlice(length: progress.slice(of: rest.readableBytesView)), slice.readableBytes > 0
        {
            let isFirst = !progress.isArriving
            keep(slice.readableBytes)
            progress.receive(slice.readableBytes)
            if isFirst { showPhase() }
            owesReadComplete = true
            context.fireChannelRead(wrapInboundOut(slice))
            if progress.isTooLong {
                limited(.head)
                bounds?.refuse(.tooLong)
            }
        }
        rest = rest.readableBytes == 0 ? ByteBuffer() : rest.compacted(context.channel.allocator)
    }

    /// The decoder has so many bytes of what is held. Of one request no more is held than it may have: what comes on top of it
    /// is passed over as it comes.
    private func keep(_ count: Int) {
        let kept = isAnswered ? 0 : min(count, limits.mostFraming + limits.mostBody - held)
        held += kept
        if kept < count { connection.release(count - kept) }
    }

    /// One more may be parsed.
    private func goOn() {
        guard let context, rest.readableBytes > 0 else { return }
        feed(context)
        channelReadComplete(context: context)
        guard rest.readableBytes == 0, !isRefusing else { return }
        if owesEnd {
            owesEnd = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if owesRead {
            owesRead = false
            context.read()
        }
    }

    private func showPhase() {
        connection.move(
            to: isUnread ? .unread : progress.isArriving ? .arriving : waiting.isEmpty ? .idle : .answering)
    }
}
