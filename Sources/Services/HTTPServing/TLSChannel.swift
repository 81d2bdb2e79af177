import HummingbirdCore
import Logging
import NIOCore
import NIOSSL
import NIOTLS

/// HTTP/1 inside TLS. Hummingbird's own takes one certificate for good; here each connection takes the one read last.
struct TLSChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let identity: TLSIdentity
    let http: HTTP1Channel
    /// How long a handshake may take.
    let handshakeDeadline: TimeAmount

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandlers([
                NIOSSLServerHandler(context: identity.context), HandshakeDeadline(handshakeDeadline),
            ])
        }.flatMap { http.setup(channel: channel, logger: logger) }
    }

    func handle(value: Value, logger: Logger) async { await http.handle(value: value, logger: logger) }
}

/// Closes a connection whose handshake does not come to an end: ``RequestDeadline`` sees nothing before it.
final class HandshakeDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let limit: TimeAmount
    private var closing: Scheduled<Void>?

    init(_ limit: TimeAmount) { self.limit = limit }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        // All of it at once: a goodbye by TLS would have to wait for the handshake.
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
