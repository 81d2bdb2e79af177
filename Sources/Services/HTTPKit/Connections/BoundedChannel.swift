import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOSSL

/// HTTP/1 with bounds on what a sender may cost, inside TLS where there is an identity. Hummingbird's own takes one
/// certificate for good; here each connection takes the one read last.
///
/// A connection costs next to nothing until it says something: only then has it a decoder, and somebody who reads requests.
struct BoundedChannel: ServerChildChannel {
    /// A connection, and what comes of it.
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        /// Its requests and answers; fails where it ends without a word.
        let requests: EventLoopFuture<HTTP1Channel.Value>
    }

    let http: HTTP1Channel
    let identity: TLSIdentity?
    let connections: OpenConnections
    let limits: RequestLimits
    let idleTimeout: Duration

    /// What is read at once. A post of Apple's, 20 kB at most so far, comes with one read.
    private static let readSize = 32 * 1024
    /// The same of who has said little so far. A buffer stays with its connection: thousands that send a few bytes and then wait
    /// are not to hold one of the full size each.
    private static let firstReadSize = 2048

    /// What answers may wait in, beside the kernel's buffer. Above the first mark no further answer is written, until all of them
    /// are gone: a sender who reads a little now and then counts as one who does not.
    private static let unreadAnswers = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: 4096)

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let promise = channel.eventLoop.makePromise(of: HTTP1Channel.Value.self)
        let value = Value(channel: channel, requests: promise.futureResult)
        channel.closeFuture.whenComplete { _ in promise.fail(ChannelError.ioOnClosedChannel) }
        guard let connection = connections.open(channel) else {
            channel.close(promise: nil)
            return channel.eventLoop.makeSucceededFuture(value)
        }
        return channel.eventLoop.makeCompletedFuture {
            // A buffer of one read at most for each connection, and as much again in the kernel for who does not read.
            try channel.syncOptions?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(
                    minimum: Self.firstReadSize, initial: Self.firstReadSize, maximum: Self.readSize))
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            try channel.syncOptions?.setOption(.socketOption(.so_sndbuf), value: SocketOptionValue(Self.readSize))
            try channel.syncOptions?.setOption(.writeBufferWaterMark, value: Self.unreadAnswers)
            if let identity {
                try channel.pipeline.syncOperations.addHandlers([
                    NIOSSLServerHandler(context: identity.context), HandshakeDeadline(limits.deadline),
                ])
            }
            let limited = connections.count(_:)
            let first = RequestBytes(connection, limits, limited: limited) { bytes, channel in
                promise.completeWith(
                    Result {
                        try RequestPipeline.add(behind: bytes, to: channel, limits, limited: limited)
                        try channel.pipeline.syncOperations.addHandler(
                            HTTPConnectionStateHandler(idleTimeout: idleTimeout, logger: logger))
                        return try NIOAsyncChannel(
                            wrappingChannelSynchronously: channel,
                            configuration: .init(isOutboundHalfClosureEnabled: true))
                    })
            }
            try channel.pipeline.syncOperations.addHandler(first)
            return value
        }
    }

    func handle(value: Value, logger: Logger) async {
        guard let requests = try? await value.requests.get() else { return }
        await http.handle(value: requests, logger: logger)
    }
}
