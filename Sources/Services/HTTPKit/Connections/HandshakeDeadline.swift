import NIOCore
import NIOSSL
import NIOTLS

/// Closes a connection whose handshake does not end in time: ``RequestDeadline`` sees nothing before it.
final class HandshakeDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let limit: TimeAmount
    private var closing: Scheduled<Void>?

    init(_ limit: TimeAmount) { self.limit = limit }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        // At once: a TLS goodbye would wait for the handshake.
        closing = context.eventLoop.scheduleTask(in: limit) {
            channel.pipeline.context(handlerType: NIOSSLServerHandler.self).whenSuccess { $0.close(promise: nil) }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event { cancel() }
        context.fireUserInboundEventTriggered(event)
    }

    func handlerRemoved(context: ChannelHandlerContext) { cancel() }

    private func cancel() {
        closing?.cancel()
        closing = nil
    }
}
