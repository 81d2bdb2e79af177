/// One call of the App Store Server API: which request to make, and what its answer means. A value without I/O.
public protocol ServerRequest: Sendable {
    /// What comes back, verified.
    associatedtype Answer: Sendable

    /// The call: its method and its budget.
    var endpoint: Endpoint { get }
    /// The path, each part of it percent-encoded.
    var path: String { get }
    /// What follows the question mark.
    var query: [QueryItem] { get }
    /// The JSON text that is sent; nil where there is none.
    var body: [UInt8]? { get }

    /// Reads an answer of status 2xx. Whatever is signed in it goes through the reader, which verifies it.
    ///
    /// - Throws: ``AnswerFault`` where the answer cannot be read, or where the one record that it is about is not Apple's.
    func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> Answer
}

extension ServerRequest {
    /// What follows the question mark.
    public var query: [QueryItem] { [] }

    /// The JSON text that is sent.
    public var body: [UInt8]? { nil }
}

/// A call whose answer comes in pages.
public protocol PagedRequest: ServerRequest {
    /// The request for the page after this answer; nil after the last.
    ///
    /// - Throws: ``AnswerFault`` where there is more and the answer does not say how to ask for it.
    func following(_ answer: Answer) throws(AnswerFault) -> Self?
}
