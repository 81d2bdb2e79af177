import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOSSL

/// HTTP/1 with bounds on a sender's cost, inside TLS where there is an identity. Hummingbird's own channel keeps one
/// certificate for good; here each connection takes the one read last.
///
/// A connection costs next to nothing until its first byte: only then it gets a decoder and a task that
/// reads its requests.
struct BoundedChannel: ServerChildChannel {
    /// A connection and its requests.
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        /// Its requests and answers; fails where it ends without sending a byte.
        let requests: EventLoopFuture<HTTP1Channel.Value>
    }

    let http: HTTP1Channel
    let identity: TLSIdentity?
    let connections: OpenConnections
    let limits: RequestLimits
    let idleTimeout: Duration

    /// The largest read. Apple's posts, so far of 20 kB at most, come with one read.
    private static let readSize = 32 * 1024
    /// The size of the first reads. A connection keeps its buffer: thousands of connections that send a few bytes and
    /// then wait must not hold one of the full size each.
    private static let firstReadSize = 2048

    /// How many bytes of answers may wait beside the kernel's buffer. Above the high mark no further answer is written
    /// until all of them are sent: a client that reads a little now and then counts as one that does not read.
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
            // At most one read's buffer for each connection, and as much again in the kernel for slow readers.
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
