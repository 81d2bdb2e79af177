/// How a receiver listens.
public struct ReceiverConfiguration: Sendable {
    /// The address to listen on.
    public var host: String
    /// The TCP port; 0 for any free one.
    public var port: Int
    /// The certificate to show; nil where a proxy speaks TLS.
    public var tls: TLSIdentity?
    /// The longest POST body that is read, in bytes. Apple's are under 20 kB.
    public var maximumBodySize = 256 * 1024
    /// How long one request may take to arrive whole; with TLS, also how long the handshake may take.
    public var requestDeadline: Duration = .seconds(10)
    /// How long a connection may stand idle between requests.
    public var idleTimeout: Duration = .seconds(60)
    /// How long a request in hand may take once the receiver has been told to stop. Two commits fit in, the one under way
    /// and the one after it, even if the database answers neither.
    public var stopDeadline: Duration = .seconds(20)
    /// Connections held at once; more wait in the kernel's backlog.
    public var maximumConnections = 4096
    /// What bounds the receiver's memory and each commit.
    public var limits = GroupCommit.Limits()
    /// How often to ask which headers of signatures need not be stored any more, give or take a quarter.
    public var headerInterval: Duration = .seconds(30)
    /// What a refused sender is told to wait, in seconds.
    public var retryAfterSeconds = 5

    /// A configuration.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}
