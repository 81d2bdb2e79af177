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
    /// How long one request may take to arrive whole; with TLS, also how long the handshake may take.
    public var requestDeadline: Duration = .seconds(10)
    /// How long a connection may stand idle between requests.
    public var idleTimeout: Duration = .seconds(60)
    /// How long a request in hand may take once the server has been told to stop.
    public var stopDeadline: Duration = .seconds(20)
    /// Connections held at once; more wait in the kernel's backlog.
    public var maximumConnections = 4096

    /// A configuration.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}
