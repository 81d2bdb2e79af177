/// One call of the App Store Server API: which request to make, and how its answer is read. A value without I/O. All the calls that
/// are made stand in `AppleEndpoint+table.swift`.
public struct ServerRequest<Answer: Sendable>: Sendable {
    /// The call.
    public let endpoint: AppleEndpoint
    /// The path, each part of it percent-encoded.
    let path: String
    /// Where the page before ended; nil for the first page, and where there is one answer alone.
    public var page: String?
    /// The JSON text that is sent; nil where there is none.
    let body: [UInt8]?
    private let filters: [QueryItem]
    private let reading: @Sendable (inout AnswerReader) throws(AnswerFault) -> Answer

    /// - Parameters:
    ///   - arguments: what stands in the endpoint's path in place of each `{name}`, not encoded.
    ///   - filters: what follows the question mark, beside the page's token.
    ///   - reading: reads an answer of status 2xx. Whatever is signed in it goes through the reader, which verifies it. It throws
    ///     where the answer cannot be read, or where the one record that it is about is not Apple's.
    init(
        _ endpoint: AppleEndpoint, _ arguments: [String] = [], filters: [QueryItem] = [], body: RequestBody? = nil,
        reading: @escaping @Sendable (inout AnswerReader) throws(AnswerFault) -> Answer
    ) {
        self.endpoint = endpoint
        path = endpoint.path(with: arguments)
        self.filters = filters
        self.body = body?.bytes
        self.reading = reading
    }

    /// What follows the question mark.
    var query: [QueryItem] { (endpoint.pageToken.map { QueryItem.optional($0, page) } ?? []) + filters }

    /// Whether its answer has no body: the status says all.
    var mayBeEmpty: Bool { Answer.self == Void.self }

    /// Reads an answer of status 2xx.
    ///
    /// - Throws: ``AnswerFault``.
    func answer(_ reader: inout AnswerReader) throws(AnswerFault) -> Answer { try reading(&reader) }
}

extension ServerRequest where Answer: AnswerPage {
    /// The request for the page after this answer; nil after the last.
    ///
    /// - Throws: ``AnswerFault`` where there is more and the answer does not say how to ask for it.
    public func following(_ answer: Answer) throws(AnswerFault) -> Self? {
        guard answer.hasMore else { return nil }
        // The same token again would give the same page for ever.
        guard let next = answer.nextPage, next != page else {
            throw .unreadable("hasMore is true, and there is no new \(endpoint.pageToken ?? "token")")
        }
        var following = self
        following.page = next
        return following
    }
}
