import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request does not arrive whole in time, head included. Without it a sender of one byte a
/// second holds a connection and a body buffer for as long as it likes; the server's idle timeout sees a byte and is
/// content.
final class RequestDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let limit: TimeAmount
    /// Under way from a request's first bytes to its end.
    private var closing: Scheduled<Void>?
    private var hasReadPart = false

    init(_ limit: TimeAmount) { self.limit = limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasReadPart = true
        switch unwrapInboundIn(data) {
        case .head:
            begin(context)
        case .end:
            closing?.cancel()
            closing = nil
        case .body:
            break
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Bytes came and made no part of a request: a head on its way, which the decoder keeps until it is whole.
        if !hasReadPart { begin(context) }
        hasReadPart = false
        context.fireChannelReadComplete()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        closing?.cancel()
        closing = nil
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard closing == nil else { return }
        let channel = context.channel
        closing = context.eventLoop.scheduleTask(in: limit) { channel.close(promise: nil) }
    }
}
