import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request does not arrive whole in time, head included. Without it a sender of one byte a
/// second holds a connection and a body buffer for as long as it likes: each byte satisfies the server's idle timeout.
///
/// Also closes a connection that goes on sending a body long after it was refused for its length: the server would
/// read it to its end, to get to the next request.
final class RequestDeadline: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    private let limit: TimeAmount
    private let mostBytes: Int
    private let limited: @Sendable (HTTPServerObserver.Limit) -> Void
    private var bodyBytes = 0
    /// By when the arriving request must be whole; nil between two requests.
    private var deadline: NIODeadline?
    /// Fires at ``deadline``. It outlasts a request that is in time, and is set again: one timer for many requests, as
    /// setting and cancelling one for each costs a twentieth of a short answer.
    private var timer: Scheduled<Void>?
    private var hasReadPart = false

    /// - Parameters:
    ///   - mostBytes: how long a body may get, refused or not. Well above the accepted length, so that the refusal is
    ///     sent
    ///     before the connection is closed, and a sender that then stops can read it.
    ///   - limited: called when the time is up.
    init(
        _ limit: TimeAmount, mostBytes: Int, limited: @escaping @Sendable (HTTPServerObserver.Limit) -> Void = { _ in }
    ) {
        self.limit = limit
        self.mostBytes = mostBytes
        self.limited = limited
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasReadPart = true
        switch unwrapInboundIn(data) {
        case .head:
            bodyBytes = 0
            begin(context)
        case .end: deadline = nil
        case .body(let bytes):
            bodyBytes += bytes.readableBytes
            guard bodyBytes <= mostBytes else {
                context.close(promise: nil)
                return
            }
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Bytes that made no part of a request: an incomplete head, which the decoder keeps until it is whole.
        if !hasReadPart { begin(context) }
        hasReadPart = false
        context.fireChannelReadComplete()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard deadline == nil else { return }
        let deadline = context.eventLoop.now + limit
        self.deadline = deadline
        if timer == nil { look(at: deadline, context.channel) }
    }

    private func look(at instant: NIODeadline, _ channel: any Channel) {
        timer = channel.eventLoop.assumeIsolated().scheduleTask(deadline: instant) { [self] in
            timer = nil
            guard let deadline else { return }
            guard deadline <= channel.eventLoop.now else { return look(at: deadline, channel) }
            limited(.time)
            channel.close(promise: nil)
        }
    }
}
