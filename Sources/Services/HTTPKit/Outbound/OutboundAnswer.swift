import NIOHTTP1

/// What a server has answered.
package struct OutboundAnswer: Sendable {
    /// The status code. A redirect is an answer like any other.
    package let status: Int
    /// The body; empty where it was not asked for.
    package let body: [UInt8]
    private let headers: HTTPHeaders

    init(status: Int, headers: HTTPHeaders, body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header of a name, whatever its letter case.
    package func header(_ name: String) -> String? { headers.first(name: name) }
}
