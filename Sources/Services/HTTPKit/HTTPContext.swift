public import Base
public import Hummingbird

/// What a route gets beside the request.
public struct HTTPContext: RequestContext {
    /// What Hummingbird needs.
    public var coreContext: CoreRequestContextStorage
    /// The other end of the connection: the sender, or a proxy. See ``TrustedProxies``.
    public let peer: NetworkAddress?

    /// The context of one request.
    public init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        peer = NetworkAddress(source.channel.remoteAddress)
    }
}
