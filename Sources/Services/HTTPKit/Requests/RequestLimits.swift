import HTTPTypes
import NIOCore

/// The limits of the requests of one connection.
struct RequestLimits: Sendable {
    /// The longest head, and the most framing of a body's chunks, in bytes.
    var mostFraming: Int
    /// The longest accepted body, in bytes.
    var mostBody: Int
    /// How long a new connection may be silent.
    var silence: TimeAmount
    /// How long a request may take to arrive whole, and its answer to be read.
    var deadline: TimeAmount
    /// The answer to a head that is too long.
    var longHead = HTTPResponse(status: .requestHeaderFieldsTooLarge)
}
