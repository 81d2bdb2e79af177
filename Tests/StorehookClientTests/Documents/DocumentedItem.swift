/// Something that a document gives a client, what it is here, and the test that fails without it.
struct DocumentedItem: Sendable, CustomStringConvertible {
    /// The line of the document's text.
    let line: Int
    /// The document's own name or term, or what it says in short.
    let says: String
    /// A type of the client, or a type and its member; nil where it is another's.
    let here: String?
    /// A suite of tests and its function; nil where it is another's.
    let test: String?
    /// Why it is another's, or differs from the document; nil where it is as the document has it.
    let reason: String?

    /// Something that is here.
    /// - Parameter reason: how it differs from the document, and why.
    init(_ line: Int, _ says: String, _ here: String, by test: String, but reason: String? = nil) {
        (self.line, self.says, self.here, self.test, self.reason) = (line, says, here, test, reason)
    }

    /// Something that is not the client's.
    init(_ line: Int, _ says: String, elsewhere reason: String) {
        (self.line, self.says, here, test, self.reason) = (line, says, nil, nil, reason)
    }

    var description: String { "\(line): \(says)" }
}
