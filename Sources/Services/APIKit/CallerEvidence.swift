package import Base
package import HTTPTypes

/// What a request says of its caller.
package struct CallerEvidence: Sendable {
    /// Its headers.
    package var headers: HTTPFields
    /// Its method.
    package var method: HTTPRequest.Method
    /// The host that it was sent to, as the sender has it; nil where it says none.
    package var authority: String?
    /// The other end of the connection: the sender, or a proxy.
    package var peer: NetworkAddress?

    /// Memberwise.
    package init(headers: HTTPFields, method: HTTPRequest.Method, authority: String?, peer: NetworkAddress?) {
        self.headers = headers
        self.method = method
        self.authority = authority
        self.peer = peer
    }
}
