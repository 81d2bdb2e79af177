/// A request to a server that this program calls.
package struct OutboundRequest: Sendable {
    /// What of the answer's body is read.
    package enum AnswerBody: Sendable {
        /// All of it, up to so many bytes: a longer one is ``OutboundFault/tooLong``, one that breaks off or takes too long is no
        /// answer.
        case whole(upTo: Int)
        /// The status and the headers count as soon as they are there. Up to so many bytes of the body are read and thrown away, so
        /// that the connection can be used again; a connection whose body goes on is closed.
        case ignored(upTo: Int)
        /// The same, but what was read of the body is kept, however far it came.
        case beginning(upTo: Int)
    }

    /// GET, POST and so on.
    package var method: String
    /// http or https.
    package var url: String
    /// In the order in which they are sent.
    package var headers: [(name: String, value: String)]
    /// Sent with its length; nil for none.
    package var body: [UInt8]?
    /// What of the answer's body is read: a MiB by default.
    package var answerBody = AnswerBody.whole(upTo: 1 << 20)
    /// Whose connection carries it, where addresses are checked: one owner's requests take no connection of another's.
    package var owner: Int64 = 0
    /// Whether it is sent once more, over a new connection and within the same time, where addresses are checked and a connection
    /// that had carried a request before ends before the first byte of an answer. The server may then have got it twice.
    package var isRepeatable = false

    /// A request.
    package init(
        _ method: String, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}
