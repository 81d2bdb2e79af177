public import Base
public import Hummingbird

/// What a route gets beside the request.
public struct HTTPContext: RequestContext {
    /// What Hummingbird needs.
    public var coreContext: CoreRequestContextStorage
    /// The other end of the connection: the sender, or a proxy. See ``TrustedProxies``.
    public let peer: NetworkAddress?
    /// Closes the connection at once: for an answer that goes on and whose reader does not read it.
    package let cutOff: @Sendable () -> Void

    /// The context of one request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        let channel = source.channel
        peer = NetworkAddress(channel.remoteAddress)
        cutOff = { channel.cutOff() }
    }
}
