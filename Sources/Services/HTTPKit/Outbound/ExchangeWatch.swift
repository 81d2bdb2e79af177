import NIOCore
import NIOHTTP1

/// A connection that had carried a request before ended before the first byte of an answer to this one.
///
/// A server may close a connection that it keeps at any time, and a request that meets the close is lost without a trace (RFC 9112,
/// section 9.3.1).
struct KeptConnectionEnded: Error {}

/// Watches a connection of HTTP/1.1, so that a request's error says whether it was lost to the close of a kept connection.
///
/// Without it the HTTP library reports the end of a connection alike, whatever was sent or received on it. With it:
/// - ``KeptConnectionEnded`` is what that error says;
/// - `HTTPClientError.remoteConnectionClosed` and `ChannelError.ioOnClosedChannel` are left for requests that had sent nothing, because the
///   connection had ended before;
/// - any other end of the connection during a request is another error.
final class ExchangeWatch: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// Notes that bytes came, before they are read as an answer.
    private final class Arrival: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias InboundOut = ByteBuffer

        var hasBytes = false

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            hasBytes = true
            context.fireChannelRead(data)
        }
    }

    private let arrival: Arrival
    private let onAnswer: @Sendable (_ isFurther: Bool) -> Void
    /// How many answers were complete, up to two.
    private var answers = 0
    /// Whether a request has begun whose answer is not complete.
    private var isUnderWay = false

    private init(_ arrival: Arrival, onAnswer: @escaping @Sendable (_ isFurther: Bool) -> Void) {
        self.arrival = arrival
        self.onAnswer = onAnswer
    }

    /// Watches a connection from now on. To be called on its event loop, once the library's handlers are in place.
    /// - Parameter onAnswer: called when the first and the second answer are complete, before the connection can carry another request.
    static func watch(_ channel: any Channel, onAnswer: @escaping @Sendable (_ isFurther: Bool) -> Void) throws {
        let pipeline = channel.pipeline.syncOperations
        let arrival = Arrival()
        try pipeline.addHandler(arrival, position: .before(pipeline.handler(type: HTTPRequestEncoder.self)))
        try pipeline.addHandler(
            ExchangeWatch(arrival, onAnswer: onAnswer),
            position: .after(pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head:
            isUnderWay = true
            arrival.hasBytes = false
        case .body: break
        case .end:
            guard let promise else { break }
            // The library fails the request with what this write fails with, and hears of that before it hears of the end.
            let written = context.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenComplete { result in
                promise.completeWith(result.mapError { self.meaning(of: $0) })
            }
            context.write(data, promise: written)
            return
        }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) {
            isUnderWay = false
            if answers < 2 {
                answers += 1
                onAnswer(answers > 1)
            }
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard isLost else {
            context.fireErrorCaught(error)
            return
        }
        isUnderWay = false
        context.fireErrorCaught(KeptConnectionEnded())
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isUnderWay {
            let error = meaning(of: ChannelError.eof)
            isUnderWay = false
            context.fireErrorCaught(error)
        }
        context.fireChannelInactive()
    }

    private var isLost: Bool { isUnderWay && answers > 0 && !arrival.hasBytes }

    private func meaning(of error: any Error) -> any Error {
        if isLost { return KeptConnectionEnded() }
        return error is ChannelError ? OutboundFault.disconnected : error
    }
}
