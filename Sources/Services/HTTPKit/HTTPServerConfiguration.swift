public import HTTPTypes
import NIOCore

/// How a server listens, and what bounds its senders.
public struct HTTPServerConfiguration: Sendable {
    /// The address to listen on.
    public var host: String
    /// The TCP port; 0 for any free one.
    public var port: Int
    /// The certificate to show; nil where a proxy speaks TLS, or nobody does.
    public var tls: TLSIdentity?
    /// The longest body of a request that is read, in bytes.
    public var maximumBodySize = 256 * 1024
    /// The longest head of a request, and what frames the chunks of a body, in bytes. Apple's heads have less than 1 KiB.
    public var maximumHeadSize = 16 * 1024
    /// What a longer head is answered, with its headers. 431 unless told; where nothing but a token can be that long, 401 says more.
    public var longHeadAnswer = HTTPResponse(status: .requestHeaderFieldsTooLarge)
    /// What requests may hold together that were not answered yet, in bytes. 64 MiB are some 3,500 notifications of Apple's.
    public var maximumBytesInFlight = 64 << 20
    /// How long a connection may say nothing at its beginning.
    public var silenceLimit: Duration = .seconds(10)
    /// How long one request may take to arrive whole; with TLS, also how long the handshake may take.
    public var requestDeadline: Duration = .seconds(10)
    /// How long a connection may stand idle between requests.
    public var idleTimeout: Duration = .seconds(60)
    /// How long a request in hand may take once the server has been told to stop.
    public var stopDeadline: Duration = .seconds(20)
    /// Connections held at once. Where there are more, those that say nothing or next to nothing yield to the new ones.
    public var maximumConnections = 4096
    /// Connections held at once by one address that is none of ``trustedProxies``: of IPv6, by one network of 64 bits.
    public var maximumConnectionsPerAddress = 512
    /// The proxies whose `X-Forwarded-For` names the sender, and who may hold as many connections as they need.
    public var trustedProxies = TrustedProxies()

    /// Connections that may be closing beside those that are held.
    public var closingConnections: Int { max(16, maximumConnections / 16) }

    /// A configuration.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// What bounds all connections together.
    var connectionLimits: ConnectionTable.Limits {
        ConnectionTable.Limits(
            connections: maximumConnections, connectionsPerParty: maximumConnectionsPerAddress,
            // A stranger leaves room for three like him.
            bytes: maximumBytesInFlight, bytesPerParty: maximumBytesInFlight / 4)
    }

    /// What bounds each of them.
    var requestLimits: RequestLimits {
        RequestLimits(
            mostFraming: maximumHeadSize, mostBody: maximumBodySize, silence: TimeAmount(silenceLimit),
            deadline: TimeAmount(requestDeadline), longHead: longHeadAnswer)
    }
}
