/// What came back over HTTP.
public struct TransportAnswer: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// The header `Retry-After`, as it stands.
    public var retryAfter: String?
    /// The header `Date`, as it stands.
    public var date: String?
    /// The body, of bounded length.
    public var body: [UInt8]

    /// Creates the value from its parts.
    public init(status: Int, retryAfter: String? = nil, date: String? = nil, body: [UInt8] = []) {
        self.status = status
        self.retryAfter = retryAfter
        self.date = date
        self.body = body
    }
}

/// Why nothing came back.
public enum TransportFault: String, Error, Sendable, Hashable, CaseIterable {
    /// No connection: the request certainly did not arrive.
    case notConnected = "not_connected"
    /// The certificate or the handshake is invalid: the request certainly did not arrive either.
    case tls
    /// No answer in time: the request may have arrived.
    case timeout
    /// The connection ended in the middle: the request may have arrived.
    case disconnected
    /// An answer longer than is read.
    case tooLong = "too_long"

    /// Whether Apple may have done what was asked.
    public var isPerhapsHeard: Bool { self != .notConnected && self != .tls }
}
