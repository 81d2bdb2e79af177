package import Base

/// The outcome of one call of an endpoint.
package enum CallOutcome: Sendable, Hashable {
    /// It answered; with the beginning of what it said, as ``AnswerText`` has it. That is a stranger's text: it stands in no log and no
    /// description.
    case answered(status: Int, retryAfter: String?, answer: String? = nil)
    /// It was not called, or did not answer.
    case failed(CallFault)

    /// Whether the endpoint accepted the event.
    package var isSuccess: Bool {
        if case .answered(let status, _, _) = self { (200..<300).contains(status) } else { false }
    }

    /// Whether it refused this event, as far as the status shows, while the endpoint works. Statuses about the caller
    /// (401, 407), the time (408, 429) and the endpoint (410) do not count.
    package var isAboutEvent: Bool {
        guard case .answered(let status, _, _) = self else { return false }
        return (400..<500).contains(status) && ![401, 407, 408, 410, 429].contains(status)
    }

    /// The answer's status.
    package var status: Int? {
        if case .answered(let status, _, _) = self { status } else { nil }
    }

    /// The beginning of what it said; nil where it said nothing.
    package var answer: String? {
        if case .answered(_, _, let answer) = self { answer } else { nil }
    }

    /// A stable code: `http_503`, `timeout`.
    package var code: String {
        switch self {
        case .answered(let status, _, _): "http_\(status)"
        case .failed(let fault): fault.code
        }
    }

    /// For people: a line without any text of the endpoint's.
    package var text: String {
        switch self {
        case .answered(let status, _, _): "answered \(status)"
        case .failed(let fault): "\(fault)"
        }
    }
}

/// Why a call had no answer.
package enum CallFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The URL, or an address of its name, must not be called.
    case refused(AddressRefusal)
    /// No connection.
    case notConnected
    /// Its certificate is not trusted, or TLS could not be negotiated.
    case tls
    /// The connection ended without an answer, or with an invalid one.
    case disconnected
    /// It took too long.
    case timeout
    /// There is no secret to sign with.
    case unsigned

    /// A stable code.
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
