import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Sees what the decoder makes of the bytes that ``RequestBytes`` counts, and the answers on their way back: refusals
/// and `Expect: 100-continue` are answered here.
///
/// The parts of a body that came with one read are passed on as one, so that tiny chunks cost no more than others.
final class RequestBounds: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let bytes: RequestBytes
    private let limits: RequestLimits
    private let limited: @Sendable (HTTPServerObserver.Limit) -> Void
    private var context: ChannelHandlerContext?
    private var body: ByteBuffer?
    /// Requests whose heads were passed on, and whose answers are not complete.
    private var inHand = 0
    /// The arriving request waits for `100 Continue`.
    private var owesContinue = false
    private var isRefusing = false
    private var unread: Scheduled<Void>?

    /// How long a refused sender may take to read the refusal: closing at once would reset the connection
    /// before it arrives.
    private static let farewell = TimeAmount.seconds(1)

    init(
        behind bytes: RequestBytes, _ limits: RequestLimits,
        limited: @escaping @Sendable (HTTPServerObserver.Limit) -> Void
    ) {
        self.bytes = bytes
        self.limits = limits
        self.limited = limited
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        bytes.bounds = self
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        unread?.cancel()
        unread = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefusing else { return }
        switch unwrapInboundIn(data) {
        case .head(let request):
            let length = request.headerFields[.contentLength].flatMap(Int.init)
            bytes.readHead(contentLength: length, isChunked: request.headerFields[.transferEncoding] != nil)
            inHand += 1
            // A sender that announces too much gets the route's refusal instead.
            owesContinue = Self.expectsContinue(request) && length ?? 0 <= limits.mostBody
            context.fireChannelRead(data)
            writeContinue(context)
        case .body(let part):
            bytes.readBody(part.readableBytes)
            if body?.writeImmutableBuffer(part) == nil { body = part.compacted(context.channel.allocator) }
        case .end:
            passBody(context)
            owesContinue = false
            bytes.readEnd()
            context.fireChannelRead(data)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passBody(context)
        context.fireChannelReadComplete()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let refusal = event as? RequestRefusal {
            // A client that does not read would not read the refusal.
            if unread != nil { return context.channel.cutOff() }
            // It was chosen a moment ago, and may have arrived whole since.
            if bytes.isArriving || inHand > 0 { refuse(refusal) } else { context.close(promise: nil) }
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    /// The sender does not read its answers, or has read all of them.
    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            unread?.cancel()
            unread = nil
        } else if unread == nil {
            let channel = context.channel
            unread = context.eventLoop.scheduleTask(in: limits.deadline) { [limited] in
                limited(.time)
                channel.cutOff()
            }
        }
        bytes.isUnread = unread != nil
        context.fireChannelWritabilityChanged()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        context.write(data, promise: promise)
        // Requests that the decoder could not read are answered too, but were never in hand.
        inHand = max(0, inHand - 1)
        bytes.wroteEnd()
        if isRefusing, inHand == 0 { closeSoon(context) } else { writeContinue(context) }
    }

    /// Nothing can be read after bytes that the decoder does not understand.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isRefusing {
            isRefusing = true
            body = nil
            bytes.stopReading(context)
        }
        context.fireErrorCaught(error)
    }

    /// Reads nothing more, and answers with the refusal as soon as it is this request's turn.
    func refuse(_ refusal: RequestRefusal) {
        guard let context, !isRefusing else { return }
        isRefusing = true
        body = nil
        bytes.stopReading(context)
        if bytes.isInBody || inHand > 0 {
            // A route that reads the body gets it from there; if none does, the connection ends.
            context.fireErrorCaught(refusal)
            if inHand == 0 { closeSoon(context) }
        } else {
            context.write(wrapOutboundOut(.head(refusal.response(limits))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            closeSoon(context)
        }
    }

    private func passBody(_ context: ChannelHandlerContext) {
        guard let body = body.take() else { return }
        context.fireChannelRead(wrapInboundOut(.body(body)))
    }

    /// Only once all earlier requests are answered.
    private func writeContinue(_ context: ChannelHandlerContext) {
        guard owesContinue, inHand == 1 else { return }
        owesContinue = false
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    private func closeSoon(_ context: ChannelHandlerContext) {
        let channel = context.channel
        context.eventLoop.scheduleTask(in: Self.farewell) { channel.close(promise: nil) }
    }

    private static func expectsContinue(_ request: HTTPRequest) -> Bool {
        request.headerFields[.expect]?.lowercased() == "100-continue"
    }
}
