package import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

/// The handlers that make requests of bytes, in their order, for all our servers.
package enum RequestPipeline {
    /// Adds them behind ``RequestBytes``.
    static func add(
        behind bytes: RequestBytes, to channel: any Channel, _ limits: RequestLimits,
        limited: @escaping @Sendable (HTTPServerObserver.Limit) -> Void
    ) throws {
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderFieldSize = limits.mostFraming
        decoding.maxHeaderListSize = limits.mostFraming
        decoding.maxHeaderFieldCount = mostFields
        let pipeline = channel.pipeline.syncOperations
        // The reader of requests handles pipelining and errors; no value of our response headers comes from a request.
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoding)
        try pipeline.addHandlers([
            HTTP1ToHTTPServerCodec(secure: false),
            RequestBounds(behind: bytes, limits, limited: limited),
            RequestDeadline(limits.deadline, mostBytes: 4 * limits.mostBody, limited: limited),
        ])
    }

    /// Adds all of them to a channel without a socket, for fuzzing and tests.
    /// - Returns: how many bytes of unanswered requests are held.
    package static func add(
        to channel: any Channel, _ configuration: HTTPServerConfiguration
    ) throws -> @Sendable () -> Int {
        let limits = configuration.requestLimits
        let connections = OpenConnections(
            configuration.connectionLimits, proxies: configuration.trustedProxies,
            stopDeadline: TimeAmount(configuration.stopDeadline))
        guard let connection = connections.open(channel) else { throw ChannelError.ioOnClosedChannel }
        try channel.pipeline.syncOperations.addHandler(
            RequestBytes(connection, limits, limited: { _ in }) { bytes, channel in
                // It fails only where the channel is gone.
                try? add(behind: bytes, to: channel, limits, limited: { _ in })
            })
        return { connections.heldBytes }
    }

    /// Apple sends about ten.
    private static let mostFields = 128
}
