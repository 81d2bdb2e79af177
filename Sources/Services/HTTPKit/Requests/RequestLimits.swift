import HTTPTypes
import NIOCore

/// What bounds the requests of one connection.
struct RequestLimits: Sendable {
    /// The longest that a head may be, or what frames the chunks of a body, in bytes.
    var mostFraming: Int
    /// The longest body that is taken, in bytes.
    var mostBody: Int
    /// How long a connection may say nothing at its beginning.
    var silence: TimeAmount
    /// How long a request may take to arrive whole, and its answer to be read.
    var deadline: TimeAmount
    /// What a head that is too long is answered.
    var longHead = HTTPResponse(status: .requestHeaderFieldsTooLarge)
}
