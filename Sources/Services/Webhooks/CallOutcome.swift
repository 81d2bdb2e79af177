package import Events

/// What one call of an endpoint came to.
package enum CallOutcome: Sendable, Hashable {
    /// It answered.
    case answered(status: Int, retryAfter: String?)
    /// It was not called, or did not answer.
    case failed(CallFault)

    /// Whether it took what it was sent.
    package var isSuccess: Bool {
        if case .answered(let status, _) = self { (200..<300).contains(status) } else { false }
    }

    /// Whether it failed because of what it was sent, as far as anybody can tell: the endpoint works. Not of who asks (401, 407), of
    /// when (408, 429), and of the endpoint itself (410).
    package var isAboutEvent: Bool {
        guard case .answered(let status, _) = self else { return false }
        return (400..<500).contains(status) && ![401, 407, 408, 410, 429].contains(status)
    }

    /// The answer's status.
    package var status: Int? {
        if case .answered(let status, _) = self { status } else { nil }
    }

    /// In a word: `http_503`, `timeout`. Names that others build on.
    package var code: String {
        switch self {
        case .answered(let status, _): "http_\(status)"
        case .failed(let fault): fault.code
        }
    }

    /// For people: a line without anything that the endpoint said.
    package var text: String {
        switch self {
        case .answered(let status, _): "answered \(status)"
        case .failed(let fault): "\(fault)"
        }
    }
}

/// Why a call had no answer.
package enum CallFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The URL, or an address that its name has, is not called.
    case refused(EndpointRefusal)
    /// No connection.
    case notConnected
    /// No trust in its certificate, or no agreement on TLS.
    case tls
    /// The connection ended without an answer, or the answer was none.
    case disconnected
    /// It took too long.
    case timeout
    /// There is no secret to sign with.
    case unsigned

    /// In a word.
    package var code: String {
        switch self {
        case .refused(.unresolved): "unresolved"
        case .refused: "refused_address"
        case .notConnected: "not_connected"
        case .tls: "tls"
        case .disconnected: "disconnected"
        case .timeout: "timeout"
        case .unsigned: "unsigned"
        }
    }

    /// For people.
    package var description: String {
        switch self {
        case .refused(let refusal): "not called: \(refusal)"
        case .notConnected: "no connection could be made"
        case .tls: "TLS failed: its certificate is not trusted for this name, or there is no protocol in common"
        case .disconnected: "it closed the connection without an answer"
        case .timeout: "it did not answer in time"
        case .unsigned: "its secret cannot be read"
        }
    }
}
