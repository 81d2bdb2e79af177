public import HTTPTypes
import NIOCore

/// How a server listens, and the bounds of its senders.
public struct HTTPServerConfiguration: Sendable {
    /// The address to listen on.
    public var host: String
    /// The TCP port; 0 for any free one.
    public var port: Int
    /// The certificate; nil where a proxy speaks TLS, or there is no TLS.
    public var tls: TLSIdentity?
    /// The longest body of a request that is read, in bytes.
    public var maximumBodySize = 256 * 1024
    /// The longest head of a request, and framing of a body's chunks, in bytes. Apple's heads have less than 1 KiB.
    public var maximumHeadSize = 16 * 1024
    /// The answer to a longer head. By default 431; where only a token can be that long, 401 says more.
    public var longHeadAnswer = HTTPResponse(status: .requestHeaderFieldsTooLarge)
    /// The most bytes of unanswered requests. 64 MiB are some 3,500 notifications of Apple's.
    public var maximumBytesInFlight = 64 << 20
    /// How long a new connection may be silent.
    public var silenceLimit: Duration = .seconds(10)
    /// How long one request may take to arrive whole; with TLS, also how long the handshake may take.
    public var requestDeadline: Duration = .seconds(10)
    /// How long a connection may be idle between requests.
    public var idleTimeout: Duration = .seconds(60)
    /// How long a request under way may take after the stop.
    public var stopDeadline: Duration = .seconds(20)
    /// The most connections at once. Beyond that, those that send nothing or next to nothing yield to new ones.
    public var maximumConnections = 4096
    /// The most connections of one address that is not in ``trustedProxies``; for IPv6, of one network of 64 bits.
    public var maximumConnectionsPerAddress = 512
    /// The proxies whose `X-Forwarded-For` names the sender. They may hold as many connections as they need.
    public var trustedProxies = TrustedProxies()

    /// Connections that may be closing beside those that are held.
    public var closingConnections: Int { max(16, maximumConnections / 16) }

    /// A configuration.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// The bounds of all connections together.
    var connectionLimits: ConnectionTable.Limits {
        ConnectionTable.Limits(
            connections: maximumConnections, connectionsPerParty: maximumConnectionsPerAddress,
            // One party leaves room for three others of its size.
            bytes: maximumBytesInFlight, bytesPerParty: maximumBytesInFlight / 4)
    }

    /// The bounds of each connection.
    var requestLimits: RequestLimits {
        RequestLimits(
            mostFraming: maximumHeadSize, mostBody: maximumBodySize, silence: TimeAmount(silenceLimit),
            deadline: TimeAmount(requestDeadline), longHead: longHeadAnswer)
    }
}
